#!/usr/bin/env python3
"""Prints the reference of the Python package as Markdown, from its sources: api.py FOLDER."""
import ast
import pathlib
import re
import sys

FOLDER = pathlib.Path(sys.argv[1])


def public_names():
    tree = ast.parse((FOLDER / "__init__.py").read_text())
    return [element.value for node in tree.body if isinstance(node, ast.Assign)
            and getattr(node.targets[0], "id", "") == "__all__" for element in node.value.elts]


def definitions():
    """Name -> the class or function that the package defines."""
    return {node.name: node for path in sorted(FOLDER.glob("*.py")) if path.name != "ppsim.py"
            for node in ast.parse(path.read_text()).body
            if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node)}


def is_property(node):
    return any(getattr(mark, "id", "") == "property" for mark in node.decorator_list)


def signature(node):
    """As a call is written; empty for properties and for classes without a constructor."""
    if isinstance(node, ast.ClassDef):
        makers = [member for member in node.body if getattr(member, "name", "") == "__init__"]
        return signature(makers[0]) if makers else ""
    arguments = re.sub(r"^self(, )?", "", ast.unparse(node.args))
    return "" if is_property(node) else f"({wrapped(arguments)})"


def wrapped(arguments):
    """Long lists of arguments on lines of their own; commas inside brackets do not end one."""
    if len(arguments) < 60:
        return arguments
    return "\n    " + re.sub(r", (?![^\[(]*[\])])", ",\n    ", arguments) + "\n"


def described(node, level, prefix=""):
    text = ast.get_docstring(node)
    yield f"{'#' * level} {prefix}{node.name}\n"
    if call := signature(node):
        yield f"```python\n{prefix}{node.name}{call}\n```\n"
    yield "\n".join(f"    {line}" if line.startswith((">>>", "...")) else line
                    for line in text.split("\n")) + "\n"
    for member in node.body if isinstance(node, ast.ClassDef) else ():
        if isinstance(member, ast.FunctionDef) and not member.name.startswith("_") \
                and ast.get_docstring(member):
            yield from described(member, level + 1, f"{node.name}.")


def main():
    known = definitions()
    print("# Python package\n\nFrom the docstrings of `conclave`; introduced by examples in "
          "[Python](./python.md).\n")
    for name in sorted(public_names(), key=str.lower):
        if name in known:
            print("\n".join(described(known[name], 2)))


if __name__ == "__main__":
    main()
