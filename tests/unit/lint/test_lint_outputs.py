"""Every form of output is what its readers take it for."""

import json
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import attr
import jsonschema
import pytest
import sarif_om

from muntin.lint import lint_text
from muntin.lint.findings import Finding
from muntin.lint.outputs import github, human, json_form, junit, sarif
from muntin.lint.report import Report
from muntin.model.gates import Severity

ROOT = Path(__file__).parents[3]
CORPUS = sorted((ROOT / "tests/lint_corpus").glob("*/bad*"))
HOSTILE = Finding(
    rule="yaml-syntax", severity=Severity.INFO, file="a dir/ü,:%.yaml", line=3, column=1,
    summary='<&"\'>\n::error::\x1b[31m', field="a,b:c", object="Pod x%y", profiles=("1.34/2019",),
)  # fmt: skip


def found():
    texts = ((str(path.relative_to(ROOT)), path.read_text("utf-8")) for path in CORPUS)
    return [*(one for name, text in texts for one in lint_text(text, file=name)), HOSTILE]


def test_json_is_as_the_schema_says():
    schema = json.loads((ROOT / "docs/reference/lint-findings.schema.json").read_text())
    document = json.loads(json_form.write(found()))
    assert len(document["findings"]) > 20
    jsonschema.validate(document, schema, jsonschema.Draft202012Validator)
    broken = {"findings": [document["findings"][0] | {"line": 0}]}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(broken, schema, jsonschema.Draft202012Validator)


# Which class of the model that is generated from OASIS's schema an object is of.
CLASSES = {
    "runs": sarif_om.Run, "tool": sarif_om.Tool, "driver": sarif_om.ToolComponent,
    "rules": sarif_om.ReportingDescriptor, "results": sarif_om.Result, "message": sarif_om.Message,
    "shortDescription": sarif_om.MultiformatMessageString,
    "help": sarif_om.MultiformatMessageString,
    "defaultConfiguration": sarif_om.ReportingConfiguration, "locations": sarif_om.Location,
    "physicalLocation": sarif_om.PhysicalLocation, "artifactLocation": sarif_om.ArtifactLocation,
    "region": sarif_om.Region, "logicalLocations": sarif_om.LogicalLocation,
}  # fmt: skip


def build(data, cls):
    """An object of the model: it has no property that the schema lacks, and the required ones."""
    names = {field.metadata["schema_property_name"]: field.name for field in attr.fields(cls)}
    assert set(data) <= set(names), cls
    values = {}
    for key, value in data.items():
        if isinstance(value, dict):
            value = build(value, CLASSES[key])
        elif isinstance(value, list):
            value = [build(one, CLASSES[key]) for one in value]
        values[names[key]] = value
    return cls(**values)


def test_sarif_is_as_the_schema_says():
    findings = found()
    document = json.loads(sarif.write(findings, "1.0"))
    log = build(document, sarif_om.SarifLog)
    assert log.version == "2.1.0"
    (run,) = log.runs
    assert len(run.results) == len(findings)
    for finding, result in zip(findings, run.results, strict=True):
        assert run.tool.driver.rules[result.rule_index].id == result.rule_id == finding.rule
        assert result.level in ("error", "warning", "note")
        region = result.locations[0].physical_location.region
        assert (region.start_line, region.start_column) == (finding.line, finding.column)
    assert run.results[-1].locations[0].physical_location.artifact_location.uri == (
        "a%20dir/%C3%BC%2C%3A%25.yaml"
    )
    with pytest.raises(AssertionError):
        build(document | {"rans": []}, sarif_om.SarifLog)


def test_junit_counts_and_escapes():
    findings = found()
    files = [*{one.file: None for one in findings}, "good.yaml"]
    suites = ElementTree.fromstring(junit.write(findings, files))
    assert int(suites.get("failures")) == len(findings) == len(suites.findall(".//failure"))
    assert int(suites.get("tests")) == len(findings) + 1 == len(suites.findall(".//testcase"))
    assert [one.get("name") for one in suites] == files
    hostile = next(one for one in suites if one.get("name") == HOSTILE.file)
    assert "::error::" in hostile.find(".//failure").get("message")


def test_github_has_one_line_each():
    lines = github.write([HOSTILE, replace(HOSTILE, severity=Severity.ERROR, file="a.yaml")])
    first, second = lines.split("\n")
    assert first.startswith("::notice file=a dir/ü%2C%3A%25.yaml,line=3,col=1,title=yaml-syntax::")
    assert "%0A::error::" in first
    assert second.startswith("::error file=a.yaml,line=3,")


def test_human_groups_and_counts():
    text = (
        "kind: Pod\napiVersion: v1\nmetadata: {name: cache}\nspec:\n  os: {name: windows}\n"
        "  volumes:\n  - emptyDir: {medium: Memory}\n  - emptyDir: {medium: Memory}\n"
    )
    found = [one for one in lint_text(text, file="bad.yaml") if one.rule == "empty-dir-memory"]
    report = Report(found, ["bad.yaml", "b.yaml"], ignored=1, hidden=2)
    plain = human.write(report)
    assert plain.startswith("bad.yaml: Pod cache\n")
    assert plain.count("bad.yaml: Pod cache") == 1
    word = str(found[0].severity)
    assert f"7:16  {word}  empty-dir-memory  spec.volumes[0].emptyDir.medium" in plain
    assert f"2 {word}s in 2 files" in plain
    assert "2 of lower severity not shown" in plain
    assert "1 ignored" in plain
    assert "\033" not in plain
    coloured = human.write(report, colour=True)
    assert f"m{word}\033[0m" in coloured
    assert human.write(Report([], ["a"])) == "nothing found in 1 file"
