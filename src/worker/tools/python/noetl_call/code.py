"""Turns source text into something that runs, with or without a top-level `return`."""

import ast

_OWN_SCOPE = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_BODY_NAME = "__noetl_body__"


class Program:
    def __init__(self, compiled, returns, calls_main):
        self.compiled = compiled
        self.returns = returns
        # The code calls its `main` itself: a second call would do its work twice.
        self.calls_main = calls_main

    def run(self, space):
        exec(self.compiled, space)
        if not self.returns:
            return None
        body = space.pop(_BODY_NAME)
        # Tracebacks name the scope the author wrote.
        body.__code__ = body.__code__.replace(co_name="<module>")
        return body()


def parse(source, filename):
    tree = ast.parse(source, filename)
    top = list(_top_level(tree))
    returns = any(isinstance(node, ast.Return) for node in top)
    calls_main = any(
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "main" for node in top
    )
    if returns:
        tree = _as_function(tree, top)
    return Program(compile(tree, filename, "exec", dont_inherit=True), returns, calls_main)


def _top_level(tree):
    """Every node that runs in the scope of the module itself."""
    pending = list(ast.iter_child_nodes(tree))
    while pending:
        node = pending.pop()
        yield node
        if not isinstance(node, _OWN_SCOPE):
            pending.extend(ast.iter_child_nodes(node))


def _as_function(tree, top):
    """Moves the module's body into a function, so that it may return.

    Every name the body binds is declared global: functions it defines see its variables, inputs can be assigned
    over, and `result` stays a global, all as without the `return`.
    """
    futures = [node for node in tree.body if isinstance(node, ast.ImportFrom) and node.module == "__future__"]
    body = [node for node in tree.body if node not in futures]
    names = sorted(_bound_names(top))
    if names:
        body.insert(0, ast.Global(names=names))
    function = ast.parse("def %s(): pass" % _BODY_NAME).body[0]
    function.body = [_WithoutAnnotations().visit(node) for node in body]
    return ast.fix_missing_locations(ast.Module(body=[*futures, function], type_ignores=[]))


def _bound_names(nodes):
    names = set()
    for node in nodes:
        if isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del)):
            names.add(node.id)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            names.update((alias.asname or alias.name).split(".")[0] for alias in node.names if alias.name != "*")
        elif isinstance(node, ast.ExceptHandler) and node.name:
            names.add(node.name)
        elif type(node).__name__ in ("MatchAs", "MatchStar") and node.name:
            names.add(node.name)
        elif type(node).__name__ == "MatchMapping" and node.rest:
            names.add(node.rest)
    return names


class _WithoutAnnotations(ast.NodeTransformer):
    """A global name cannot be annotated inside a function, so `x: int = 1` becomes `x = 1`."""

    def visit_AnnAssign(self, node):
        if node.value is None:
            return ast.copy_location(ast.Pass(), node)
        return ast.copy_location(ast.Assign(targets=[node.target], value=node.value), node)

    def _leave(self, node):
        return node

    visit_FunctionDef = visit_AsyncFunctionDef = visit_ClassDef = visit_Lambda = _leave


def call_main(main, inputs):
    """Calls `main` with the inputs its parameters name; all of them when it takes keyword arguments."""
    import inspect

    positional, keywords = [], {}
    takes_all = False
    parameters = inspect.signature(main).parameters
    for parameter in parameters.values():
        if parameter.kind is parameter.VAR_KEYWORD:
            takes_all = True
        elif parameter.kind is parameter.POSITIONAL_ONLY and parameter.name in inputs:
            positional.append(inputs[parameter.name])
        elif parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY) and parameter.name in inputs:
            keywords[parameter.name] = inputs[parameter.name]
    if takes_all:
        keywords.update((name, value) for name, value in inputs.items() if name not in parameters)
    value = main(*positional, **keywords)
    if inspect.isawaitable(value):
        import asyncio

        async def wait():
            return await value

        return asyncio.run(wait())
    return value
