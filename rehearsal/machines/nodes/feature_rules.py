"""Node Feature Discovery's NodeFeatureRule: which labels a rule gives to a machine with these features.

Semantics are those of NFD's "Customization guide" (matchFeatures, matchAny, matchExpressions, matchName, vars,
back-references through rule.matched, default label namespace).
"""

import logging
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

log = logging.getLogger(__name__)

_Number = tuple[int, ...]

LABEL_NAMESPACE = "feature.node.kubernetes.io"
_ALLOWED_KUBERNETES_NAMESPACES = (LABEL_NAMESPACE, "profile.node.kubernetes.io")
_NOT_REHEARSED = ("labelsTemplate", "varsTemplate", "extendedResources", "taints", "annotations")


@dataclass(frozen=True, kw_only=True)
class Features:
    """The findings of NFD's worker, under NFD's own feature names."""

    flags: Mapping[str, frozenset[str]] = field(default_factory=dict)
    attributes: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    instances: Mapping[str, tuple[Mapping[str, str], ...]] = field(default_factory=dict)


class UnknownFeatureError(ValueError):
    """A rule requires a feature that no source of NFD gives."""


def labels_of_rules(rules: Iterable[Mapping[str, Any]], features: Features) -> dict[str, str]:
    """The labels that NodeFeatureRule objects give, by full name.

    rules: the objects; NFD evaluates them by name, and a later rule sees the labels and vars of the earlier ones.
    A rule that NFD could not evaluate gives none and is logged.
    """
    matched: dict[str, str] = {}
    labels: dict[str, str] = {}
    for document in sorted(rules, key=lambda rule: str(rule["metadata"]["name"])):
        for rule in document.get("spec", {}).get("rules", []):
            seen = Features(
                flags=features.flags,
                attributes={**features.attributes, "rule.matched": dict(matched)},
                instances=features.instances,
            )
            given = _labels_of_rule(str(document["metadata"]["name"]), rule, seen)
            if given is None:
                continue
            matched |= given | {key: str(value) for key, value in (rule.get("vars") or {}).items()}
            labels |= {name: value for key, value in given.items() if (name := _full_name(key)) is not None}
    return labels


def _labels_of_rule(document: str, rule: Mapping[str, Any], features: Features) -> dict[str, str] | None:
    """The rule's labels as written, or None when it does not match."""
    try:
        if not _rule_matches(rule, features):
            return None
    except UnknownFeatureError as error:
        log.warning("NodeFeatureRule %s, rule %r: %s", document, rule.get("name"), error)
        return None
    except (ValueError, re.error) as error:
        log.warning("NodeFeatureRule %s, rule %r cannot be evaluated: %s", document, rule.get("name"), error)
        return None
    for key in _NOT_REHEARSED:
        if rule.get(key):
            log.warning("NodeFeatureRule %s, rule %r: %s is not rehearsed", document, rule.get("name"), key)
    return {key: _label_value(str(value), features) for key, value in (rule.get("labels") or {}).items()}


def _rule_matches(rule: Mapping[str, Any], features: Features) -> bool:
    alternatives = rule.get("matchAny") or []
    if alternatives and not any(_terms_match(alternative["matchFeatures"], features) for alternative in alternatives):
        return False
    return _terms_match(rule.get("matchFeatures") or [], features)


def _terms_match(terms: Iterable[Mapping[str, Any]], features: Features) -> bool:
    return all(_term_matches(term, features) for term in terms)


def _term_matches(term: Mapping[str, Any], features: Features) -> bool:
    name = term["feature"]
    expressions: Mapping[str, Mapping[str, Any]] = term.get("matchExpressions") or {}
    match_name: Mapping[str, Any] | None = term.get("matchName")
    if name in features.instances:
        return any(_elements_match(instance, expressions, match_name) for instance in features.instances[name])
    if name in features.attributes:
        return _elements_match(features.attributes[name], expressions, match_name)
    if name in features.flags:
        return _elements_match(dict.fromkeys(features.flags[name], ""), expressions, match_name)
    known = sorted({*features.instances, *features.attributes, *features.flags})
    raise UnknownFeatureError(f"feature {name!r} is not available; there are {', '.join(known)}")


def _elements_match(
    elements: Mapping[str, str],
    expressions: Mapping[str, Mapping[str, Any]],
    match_name: Mapping[str, Any] | None,
) -> bool:
    if match_name is not None and not any(expression_matches(match_name, name) for name in elements):
        return False
    return all(expression_matches(expression, elements.get(key)) for key, expression in expressions.items())


def expression_matches(expression: Mapping[str, Any], value: str | None) -> bool:
    """True if one MatchExpression holds for a value; None stands for an element that is not there.

    Raises ValueError for an operator or operands that NFD refuses.
    """
    operator = expression["op"]
    operands = [str(operand) for operand in expression.get("value") or []]
    if operator == "Exists":
        return value is not None
    if operator == "DoesNotExist":
        return value is None
    if value is None:
        return False
    if operator in _ON_TEXT:
        return _ON_TEXT[operator](value, operands)
    if operator in _ON_NUMBERS:
        convert = _version if expression.get("type") == "version" else _number
        numbers = [convert(operand) for operand in operands]
        expected = 2 if operator in {"GtLt", "GeLe"} else 1
        if len(numbers) != expected:
            raise ValueError(f"operator {operator} takes {expected} value(s), not {operands}")
        return _ON_NUMBERS[operator](convert(value), numbers)
    raise ValueError(f"operator {operator!r} is unknown; {', '.join((*_ON_TEXT, *_ON_NUMBERS))} are known")


_ON_TEXT: Final[Mapping[str, Callable[[str, list[str]], bool]]] = {
    "In": lambda value, operands: value in operands,
    "NotIn": lambda value, operands: value not in operands,
    "InRegexp": lambda value, operands: any(re.search(operand, value) for operand in operands),
    "IsTrue": lambda value, _: value == "true",
    "IsFalse": lambda value, _: value == "false",
}
_ON_NUMBERS: Final[Mapping[str, Callable[[_Number, list[_Number]], bool]]] = {
    "Gt": lambda value, operands: value > operands[0],
    "Ge": lambda value, operands: value >= operands[0],
    "Lt": lambda value, operands: value < operands[0],
    "Le": lambda value, operands: value <= operands[0],
    "GtLt": lambda value, operands: operands[0] < value < operands[1],
    "GeLe": lambda value, operands: operands[0] <= value <= operands[1],
}


def _number(text: str) -> _Number:
    return (int(text),)


def _version(text: str) -> _Number:
    return tuple(int(part) for part in re.split(r"[.\-+]", text.removeprefix("v")) if part.isdigit())


def _label_value(value: str, features: Features) -> str:
    """The value itself, or what `@<domain>.<feature>.<attribute>` refers to."""
    if not value.startswith("@"):
        return value
    domain, feature, attribute = (*value[1:].split(".", 2), "", "")[:3]
    return features.attributes.get(f"{domain}.{feature}", {}).get(attribute, "")


def _full_name(label: str) -> str | None:
    """The label's full name, or None when NFD's master refuses its namespace."""
    namespace, slash, _ = label.partition("/")
    if not slash:
        return f"{LABEL_NAMESPACE}/{label}"
    if namespace == "kubernetes.io" or namespace.endswith(".kubernetes.io"):
        allowed = any(namespace == known or namespace.endswith(f".{known}") for known in _ALLOWED_KUBERNETES_NAMESPACES)
        if not allowed:
            log.warning("NFD refuses the label %s: namespace %s is not its own", label, namespace)
            return None
    return label
