"""Pure knowledge, no I/O: API objects, patches, validation, the Windows gates.

Where things are, in the words a caller needs (objects are plain JSON dicts, ``Resource`` is a row
of `resources`, ``Schema`` is one API version's types):

``resources``        RESOURCES; by_path(group, version, plural), by_kind(api_version, kind),
                     named(text), served(schema.has_kind), storage_version(resource); PODS, NODES...
``conversion``       convert(obj, source, target): between rows that share storage
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
``validation``       create(resource, obj), update(resource, new, old), status(resource, new, old)
                     -> list[Cause]
``tables``           table(resource, raws, now=..., include=...): the Table form of `kubectl get`
``discovery``        legacy and aggregated discovery documents
``openapi``          v3 index and documents, v2 as JSON and as gnostic protobuf
``protobuf_bodies``  decode(body) -> dict: requests of clients that write protobuf
``pods`` ``taints`` ``affinity``  what scheduler, kubelet and controllers all need to know of pods
``gates`` ``windows`` ``windows_releases``  the table of Windows capabilities
"""
