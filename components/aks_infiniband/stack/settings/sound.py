"""What of a stack file is well-formed, although the rest is not: one wrong value must not hide what others lack.

The result looks like settings, but a value that is missing or not well-formed is None.
"""

from collections.abc import Collection, Mapping
from typing import Any, TypeVar, get_origin, get_type_hints

from pydantic import BaseModel, TypeAdapter

from aks_infiniband.stack.settings.mistakes import Path, model_in

Model = TypeVar("Model", bound=BaseModel)


def sound(model: type[Model], raw: Mapping[str, Any], wrong: Collection[Path], at: Path = ()) -> Model:
    """The model with what is well-formed.

    wrong: paths of all that is not. at: where raw lies.
    """
    hints = get_type_hints(model, include_extras=True)
    values: dict[str, Any] = {}
    for name, field in model.model_fields.items():
        key = field.alias or name
        if key in raw:
            values[name] = _value(hints[name], raw[key], wrong, (*at, key))
        else:
            values[name] = None if field.is_required() else field.get_default(call_default_factory=True)
    given = {name for name, field in model.model_fields.items() if (field.alias or name) in raw}
    return model.model_construct(given, **values)


def _value(annotation: Any, raw: Any, wrong: Collection[Path], at: Path) -> Any:
    if not any(path[: len(at)] == at for path in wrong):
        return TypeAdapter(annotation).validate_python(raw, by_alias=True, by_name=False)
    model = model_in(annotation)
    if at in wrong or model is None:
        return None
    if isinstance(raw, list):
        return tuple(_item(model, item, wrong, (*at, index)) for index, item in enumerate(raw))
    if get_origin(annotation) is dict:
        items = {key: _item(model, item, wrong, (*at, key)) for key, item in raw.items()}
        return {key: item for key, item in items.items() if item is not None}
    return _item(model, raw, wrong, at)


def _item(model: type[Model], raw: Any, wrong: Collection[Path], at: Path) -> Model | None:
    return sound(model, raw, wrong, at) if isinstance(raw, dict) else None
