"""Pure knowledge, no I/O: API objects, patches, validation, the Windows gates.

Where things are, in the words a caller needs (objects are plain JSON dicts, ``Resource`` is a row
of `resources`, ``Schema`` is one API version's types):

``resources``        RESOURCES; by_path(group, version, plural), by_kind(api_version, kind),
                     named(text), served(schema), storage_version(resource); PODS, NODES...
``autoscaling``      v1_of, v2_of: autoscalers between their versions
``selectors``        parse_labels(text), labels_of(selector dict) -> Selector.matches(labels);
                     parse_fields(text, resource) -> FieldSelector.matches(fields),
                     object_fields(resource, obj), field_names(resource)
``quantity``         parse, canonical(text), value(text), milli(text), compare, add
``names``            DNS labels and subdomains, label keys and values: each gives the messages
``intstr``           resolve "25%" or 3 against a total
``json_patch``       apply(doc, operations);  ``merge_patch`` apply(doc, patch)
``strategic``        apply(schema, schema.type_of(resource), doc, patch)
``schema``           load(version) -> Schema: has_kind, type_of(resource); versions()
``decoding``         decode(schema, resource, body) -> Decoded(object, unknown, strict_errors);
                     duplicate_fields(body); Undecodable is a 400, not a 422
``defaults``         apply(resource, obj): upstream's defaults, in place
``validation``       validate_create(resource, obj), validate_update(resource, new, old),
                     validate_status_update -> list[Cause]; summary(causes)
``tables``           table(resource, objects, now_s=, include=): the Table form of `kubectl get`
``discovery``        legacy and aggregated discovery documents
``openapi``          v3_index, v3_document(schema, rows, gv), v2_json, v2_gnostic
``protobuf``         decode_body(body): requests of clients that write protobuf
``pods`` ``taints`` ``affinity``  what scheduler, kubelet and controllers all need to know of pods
``quota``            check(quotas, Ask), used(quota, objects, now): what fits, what is used
``limit_ranges``     fill_in, pod_problems, claim_problems;  ``pod_security`` levels and controls
``budgets``          selects, charge, spares: disruption budgets;  ``volumes_in_use`` claims_of
``simulated``        is_simulated(node): nodes that are there for load only
``times``            text_of(seconds), micro_text_of(seconds), seconds_of(text): no clock in it
``gates`` ``windows`` ``windows_releases``  the table of Windows capabilities
"""
