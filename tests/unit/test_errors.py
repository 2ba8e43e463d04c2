"""The table of errors: every class has a row, and subclasses take their base's."""

from muntin.kit import errors
from muntin.kit.errors import WIRE, Cause, Conflict, Invalid, MuntinError, wire_codes


def classes():
    return {
        value
        for value in vars(errors).values()
        if isinstance(value, type) and issubclass(value, MuntinError) and value is not MuntinError
    }


def test_every_class_has_a_row():
    assert set(WIRE) == classes()
    assert len(WIRE) == 11


def test_a_subclass_has_the_row_of_its_base_and_strangers_are_internal():
    class Special(Conflict):
        pass

    assert wire_codes(Special("x")).http == 409
    assert wire_codes(ValueError("x")).reason == "InternalError"


def test_an_error_keeps_its_causes():
    error = Invalid("spec is wrong", causes=[Cause("FieldValueInvalid", "spec.x", "must be 1")])
    assert (str(error), error.causes[0].field) == ("spec is wrong", "spec.x")
