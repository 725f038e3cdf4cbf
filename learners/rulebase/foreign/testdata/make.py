#!/usr/bin/python3
"""Makes the files here with Debian 12's python3-xgboost 1.7.4 and python3-sklearn 1.2.1,
from the data sets of this repository. Each NAME.json (or .txt) has a NAME.rows.json
beside it: cells by row, null where one is missing, and what the model predicts."""
import gzip, json, os
import numpy, pandas, xgboost
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor, export_text

here = os.path.dirname(os.path.abspath(__file__))
data = os.path.join(here, "../../../../datasets/data")


def load(name, target):
    t = pandas.read_csv(os.path.join(data, name + ".csv.gz"), na_values=["?"])
    return t.drop(columns=[target]).astype(float), t[target]


def write(name, text):
    with open(os.path.join(here, name), "w") as f:
        f.write(text)


def rows(name, x, answers):
    cells = [[None if numpy.isnan(v) else v for v in r] for r in x.values.tolist()]
    write(name + ".rows.json", json.dumps({"columns": list(x.columns), "rows": cells, "answers": numpy.asarray(answers, float).tolist()}))


def boosted(name, x, y, **settings):
    m = xgboost.train(dict(max_depth=3, eta=0.5, seed=1, nthread=1, **settings), xgboost.DMatrix(x, y), 5)
    m.save_model(os.path.join(here, name + ".json"))
    part = x.iloc[::3].copy()
    part.iloc[::4, 1] = numpy.nan
    rows(name, part, m.predict(xgboost.DMatrix(part)))


def lists(name, m, x, answers):
    t = m.tree_
    of = {"feature_names": list(x.columns), "children_left": t.children_left.tolist(), "children_right": t.children_right.tolist(),
          "feature": t.feature.tolist(), "threshold": t.threshold.tolist(), "value": t.value.tolist(), "impurity": t.impurity.tolist()}
    if hasattr(m, "classes_"):
        of["classes"] = m.classes_.tolist()
    write(name + ".json", json.dumps(of))
    rows(name, x, answers)


x, y = load("pima-missing", "diabetes")
boosted("xgboost-binary", x, pandas.factorize(y)[0], objective="binary:logistic", base_score=0.3)
x, y = load("iris", "target")
boosted("xgboost-classes", x, pandas.factorize(y)[0], objective="multi:softprob", num_class=3)
m = DecisionTreeClassifier(max_depth=3, random_state=1).fit(x, y)
lists("sklearn-classes", m, x, m.predict_proba(x))
write("sklearn-text.txt", export_text(m, feature_names=list(x.columns), show_weights=True, decimals=17))
rows("sklearn-text", x, m.predict_proba(x))
x, y = load("boston", "medv")
boosted("xgboost-number", x, y, objective="reg:squarederror", base_score=20)
m = DecisionTreeRegressor(max_depth=4, random_state=1).fit(x, y)
lists("sklearn-number", m, x.iloc[::3], m.predict(x.iloc[::3]))
