"""The rows of the list beside a picture: a thousand of them at once."""

from __future__ import annotations

from functools import cache

from django import template
from django.template.loader import render_to_string
from django.utils.html import format_html
from django.utils.safestring import SafeString

from graph.pictures import Drawn

register = template.Library()


@register.simple_tag
def drawn_row(drawn: Drawn) -> SafeString:
    """Return a node's line of the list; a template of its own takes ten times as long."""
    pk = drawn.node.pk
    return format_html(
        '<li>{}<a href="?node={}" data-node="{}">{}</a><span class="quiet">{}</span></li>',
        sign_of(drawn.family),
        pk,
        pk,
        drawn.name,
        drawn.about,
    )


@cache
def sign_of(family: str) -> SafeString:
    """Return the shape that stands for a family of nodes."""
    return render_to_string("graph/_sign.html", {"family": family})
