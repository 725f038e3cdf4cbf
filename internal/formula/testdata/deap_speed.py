# Nodes x rows a second of DEAP's genetic programming, on the formulas that the
# Go test wrote: by rows one at a time, as DEAP's example of symbolic regression
# does, and by columns of numpy, as its other example does.
import json, math, operator, sys, time
import numpy
from deap import gp

job = json.load(sys.stdin)
rows, formulas = job["rows"], job["formulas"]
columns = [numpy.array(c) for c in job["columns"]]
points = list(zip(*job["columns"]))

def primitives(sin, exp):
    p = gp.PrimitiveSet("MAIN", len(columns))
    p.addTerminal(1.0)
    for f, name in ((operator.add, "add"), (operator.sub, "sub"), (operator.mul, "mul")):
        p.addPrimitive(f, 2, name=name)
    p.addPrimitive(lambda a, b: numpy.divide(a, b), 2, name="div") if sin is numpy.sin else p.addPrimitive(
        lambda a, b: a / b if b else 1.0, 2, name="div")
    p.addPrimitive(sin, 1, name="sin")
    p.addPrimitive(exp, 1, name="exp")
    p.renameArguments(**{"ARG%d" % i: "x%d" % i for i in range(len(columns))})
    return p

def speed(p, ask):
    trees = [gp.PrimitiveTree.from_string(f, p) for f in formulas]
    best = 0  # of some stretches: others use the machine too
    for _ in range(10):
        nodes, begin = 0, time.perf_counter()
        while time.perf_counter() - begin < job["seconds"] / 10:
            for t in trees:
                ask(gp.compile(t, p))
                nodes += len(t) * rows
        best = max(best, nodes / (time.perf_counter() - begin))
    return best

with numpy.errstate(all="ignore"):
    print(json.dumps({
        "rows": speed(primitives(math.sin, math.exp), lambda f: [f(*x) for x in points]),
        "columns": speed(primitives(numpy.sin, numpy.exp), lambda f: f(*columns)),
    }))
