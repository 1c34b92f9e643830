"""The text of formulas (docs/spec/rules.md, Text, Canonical form): tokens, the tree, and its only spelling."""

import re
from dataclasses import dataclass, field

from murk import Refused

KEYWORDS = {"if", "then", "else", "or", "and", "not", "true", "false", "where"}
COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")
LEVELS = {"if": 0, "or": 1, "and": 2, "not": 3} | dict.fromkeys(COMPARISONS, 4) | {
    "+": 5, "-": 5, "*": 6, "/": 6, "negative": 7}
TERM = 8
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_TOKEN = re.compile(r"""(?P<blank>[ \t\r\n]+|\#[^\n]*)|(?P<number>[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)
    |(?P<name>[A-Za-z_][A-Za-z0-9_]*)|`(?P<quoted>[^`]+)`|(?P<sign>[=!<>]=|[-+*/<>()\[\],.])""", re.VERBOSE)


@dataclass(eq=False)
class Node:
    """A part of a formula: an operator, a call, a name, a literal."""

    op: str                     # an operator, or number, boolean, name, call, list, component, member
    parts: list = field(default_factory=list)
    name: str = ""              # of a call, name or member; the text of a literal
    quoted: bool = False
    where: "Node" = None
    otherwise: "Node" = None
    number: float = 0           # of a literal; k of a component

    def inner(self):
        """The parts, as they stand in the text."""
        return [*self.parts, *filter(None, (self.where, self.otherwise))]

    def all(self):
        """This node and all below it, in the order of the text."""
        yield self
        for part in self.inner():
            yield from part.all()


def _tokens(text):
    found, at = [], 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if not match:
            raise Refused(f"{text!r}: what is {text[at:at + 8]!r}?")
        if match.lastgroup != "blank":
            found.append((match.lastgroup, match[match.lastgroup]))
        at = match.end()
    return found + [("end", "")]


class _Parser:
    def __init__(self, text):
        self.text, self.tokens, self.at = text, _tokens(text), 0

    def fail(self, why):
        raise Refused(f"{self.text!r}: {why}, not {self.tokens[self.at][1]!r}")

    def next_is(self, *texts):
        kind, text = self.tokens[self.at]
        return kind in ("sign", "name") and text in texts

    def take(self, *texts):
        """The token, if it is one of these texts."""
        if not self.next_is(*texts):
            return None
        self.at += 1
        return self.tokens[self.at - 1][1]

    def need(self, text):
        return self.take(text) or self.fail(f"here stands {text}")

    def formula(self):
        if not self.take("if"):
            return self.binary(0)
        condition = self.formula()
        self.need("then")
        yes = self.formula()
        self.need("else")
        return Node("if", [condition, yes, self.formula()])

    BINARY = (("or",), ("and",), None, COMPARISONS, ("+", "-"), ("*", "/"))

    def binary(self, level):
        """What groups from the left, from `or` down to `*`."""
        if level == len(self.BINARY):
            return self.sign()
        if self.BINARY[level] is None:
            return Node("not", [self.binary(level)]) if self.take("not") else self.binary(level + 1)
        node = self.binary(level + 1)
        while op := self.take(*self.BINARY[level]):
            node = Node(op, [node, self.binary(level + 1)])
            if op in COMPARISONS:
                break
        return node

    def sign(self):
        return Node("negative", [self.sign()]) if self.take("-") else self.term()

    def term(self):
        node = self.basic()
        while op := self.take(".", "["):
            if op == ".":
                name, quoted = self.name()
                node = Node("member", [node], name, quoted)
            else:
                node = Node("component", [node], number=self.digits())
                self.need("]")
        return node

    def name(self):
        kind, text = self.tokens[self.at]
        if kind != "quoted" and (kind != "name" or text in KEYWORDS):
            self.fail("here stands a name")
        self.at += 1
        return text, kind == "quoted"

    def digits(self):
        kind, text = self.tokens[self.at]
        if kind != "number" or not text.isdigit():
            self.fail("here stand digits")
        self.at += 1
        return int(text)

    def basic(self):
        kind, text = self.tokens[self.at]
        if kind == "number":
            self.at += 1
            return Node("number", name=text, number=float(text))
        if text := self.take("true", "false"):
            return Node("boolean", name=text)
        if self.take("("):
            node = self.formula()
            self.need(")")
            return node
        if self.take("["):
            node = Node("list", self.several())
            self.need("]")
            return node
        name, quoted = self.name()
        if quoted or not self.take("("):
            return Node("name", name=name, quoted=quoted)
        return self.call(name)

    def several(self):
        parts = [self.formula()]
        while self.take(","):
            parts.append(self.formula())
        return parts

    def call(self, name):
        node = Node("call", name=name)
        if not self.take(")"):
            node.parts = self.several()
            if self.take("where"):
                node.where = self.formula()
            if self.take("else"):
                node.otherwise = self.formula()
            self.need(")")
        return node


def parse(text):
    """The tree of a formula."""
    parser = _Parser(text)
    node = parser.formula()
    if parser.tokens[parser.at][0] != "end":
        parser.fail("here ends the formula")
    return node


# The only spelling.

def number_text(x):
    """A literal, which has no sign, as the descriptor has numbers (DESCRIPTOR.md, JSON)."""
    text = repr(x)
    if x == 0 or 1e-6 <= x < 1e21:
        if "e" in text:
            text = _plain(text)
        return text.removesuffix(".0")
    mantissa, _, exponent = f"{text}e0".partition("e") if "e" not in text else text.partition("e")
    return f"{mantissa.removesuffix('.0')}e{int(exponent):+d}"


def _plain(text):
    """The digits of a number without its exponent."""
    mantissa, _, exponent = text.partition("e")
    whole, _, fraction = mantissa.partition(".")
    if int(exponent) < 0:
        return "0." + "0" * (-int(exponent) - 1) + whole + fraction
    return whole + fraction.ljust(int(exponent), "0")


def name_text(name, language):
    """A name, in backquotes where it would be another thing without."""
    plain = NAME.fullmatch(name) and name not in KEYWORDS and name not in language
    return name if plain else f"`{name}`"


def canonical(node, language, level=0):
    """The text of a tree, in a place that binds so much; `language` has the names of the language on this lattice."""
    own = LEVELS.get(node.op, TERM)
    if own < level:
        return f"({canonical(node, language)})"
    say = lambda part, at=0: canonical(part, language, at)
    if node.op == "if":
        condition, yes, no = node.parts
        return f"if {say(condition, 1)} then {say(yes, 1)} else {say(no)}"
    if node.op == "negative":
        return "-" + say(node.parts[0], own)
    if node.op == "not":
        return "not " + say(node.parts[0], own)
    if own < TERM:
        left, right = node.parts
        return f"{say(left, own + (own == 4))} {node.op} {say(right, own + 1)}"
    return _term(node, language, say)


def _term(node, language, say):
    if node.op == "number":
        return number_text(node.number)
    if node.op == "boolean":
        return node.name
    if node.op == "name":
        return name_text(node.name, language) if node.quoted else node.name
    if node.op == "member":
        return f"{say(node.parts[0], TERM)}.{name_text(node.name, language) if node.quoted else node.name}"
    if node.op == "component":
        return f"{say(node.parts[0], TERM)}[{node.number}]"
    inside = ", ".join(map(say, node.parts))
    if node.op == "list":
        return f"[{inside}]"
    inside += f" where {say(node.where)}" if node.where else ""
    inside += f" else {say(node.otherwise)}" if node.otherwise else ""
    return f"{node.name}({inside})"
