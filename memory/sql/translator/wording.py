"""A plan in one sentence, so that a person sees how the question was read."""

from __future__ import annotations

from collections.abc import Iterable

from memory.sql.translator.base import Filter, Order, Output, Plan

NAMES = {
    "avg": "average",
    "sum": "sum",
    "min": "smallest",
    "max": "largest",
    "count": "count",
}


def reading_of(plan: Plan) -> str:
    """Return the sentence that says what the statement of a plan answers."""
    parts = [_listed(dict.fromkeys(_output(o) for o in plan.outputs))]
    if plan.distinct:
        parts[0] = f"different {parts[0]}"
    totals = any(output.aggregate for output in plan.outputs)
    shown = {o.ref for o in plan.outputs if not o.aggregate}
    groups = [ref.shown for ref in dict.fromkeys(plan.groups) if ref not in shown]
    if groups or (plan.groups and totals and not shown):
        parts.append(f"per {_listed(groups or [r.shown for r in plan.groups])}")
    conditions = [_filter(found) for found in plan.filters]
    if plan.both:
        values = [str(value) for one in plan.both for value in one.values]
        conditions.append(f"{plan.both[0].ref.shown} both {_listed(values)}")
    for having in plan.havings:
        counted = _output(having.output)
        conditions.append(f"{counted} {having.operator} {having.number}")
    if conditions:
        parts.append(f"where {_listed(conditions)}")
    for absent in plan.absent:
        inner = _listed(_filter(found) for found in absent.filters)
        parts.append(
            f"without any {absent.table.name}{' with ' if inner else ''}{inner}"
        )
    if plan.present and not plan.absent:
        pass
    text = " ".join(parts)
    orders = [plan.picked] if plan.picked else plan.orders
    if orders:
        text += f", {_order(orders[0], plan.limit)}"
    return f"{text[:1].upper()}{text[1:]}."


def _output(output: Output) -> str:
    if output.table is not None:
        return f"count of {output.table.name}"
    if output.ref is None:
        return "rows"
    if output.aggregate == "count":
        return f"count of different {output.ref.shown}"
    if output.aggregate:
        return f"{NAMES[output.aggregate]} of {output.ref.shown}"
    return output.ref.shown


def _order(order: Order, limit: int | None) -> str:
    end = "highest" if order.direction == "desc" else "lowest"
    what = _output(order.output)
    if limit is None:
        return f"by {what}, {end} first"
    if limit == 1:
        return f"only the one with the {end} {what}"
    return f"the {limit} with the {end} {what}, {end} first"


def _filter(found: Filter) -> str:
    name, values = found.ref.shown, " or ".join(str(v) for v in found.values)
    negation = "not " if found.negated else ""
    if found.is_null:
        return f"{name} is empty"
    if found.average:
        return f"{name} {found.operator} its average"
    if found.match:
        verb = {"contains": "contains", "starts": "starts with", "ends": "ends with"}
        return f"{name} {negation}{verb[found.match]} “{values}”"
    if found.period:
        first = f" from {found.period.first}" if found.period.first else ""
        end = f" before {found.period.end}" if found.period.end else ""
        return f"{name} {negation}lies{first}{end}"
    operator = "is" if found.operator == "=" else found.operator
    return f"{name} {operator} {negation}{values}"


def _listed(texts: Iterable[str]) -> str:
    *most, last = [*texts] or [""]
    return f"{', '.join(most)} and {last}" if most else last
