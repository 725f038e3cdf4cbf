"""scikit-learn with its default settings, on the usual encodings."""
import pickle
import warnings

import numpy as np
import sklearn
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import AdaBoostClassifier, RandomForestClassifier, VotingClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.mixture import GaussianMixture
from sklearn.naive_bayes import CategoricalNB, GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

import peer

warnings.filterwarnings("ignore")


class Dummy(peer.Model):
    new = staticmethod(DummyClassifier)

    def encode(self, table):
        self.x = table.numbers


class NaiveBayes:
    """GaussianNB for numbers times CategoricalNB for names; a missing name is
    a value of its own."""

    def encode(self, table):
        codes = np.where(table.codes < 0, np.array(table.values, dtype=np.int32), table.codes) if table.values else None
        self.x = (table.numbers if table.numbers.shape[1] else None, codes)

    def fit(self, table, rows):
        numbers, codes = self.x
        y = table.y[rows]
        self.gauss = self.names = None
        if numbers is not None:
            self.fill = peer.filler(table, numbers[rows])
            self.gauss = GaussianNB().fit(self.fill(numbers[rows]), y)
        if codes is not None:
            self.names = CategoricalNB(min_categories=np.array(table.values) + 1).fit(codes[rows], y)
        return self

    def proba(self, table, rows):
        numbers, codes = self.x
        parts = []
        if self.gauss is not None:
            parts.append(self.gauss.predict_log_proba(self.fill(numbers[rows])))
        if self.names is not None:
            parts.append(self.names.predict_log_proba(codes[rows]))
        model = self.gauss if self.gauss is not None else self.names
        log = sum(parts)
        if len(parts) == 2:
            log = log - self.names.class_log_prior_
        log = log - log.max(axis=1, keepdims=True)
        p = np.exp(log)
        return table.whole(p / p.sum(axis=1, keepdims=True), model.classes_)

    def update(self, table, rows):
        numbers, codes = self.x
        if self.gauss is not None:
            self.gauss.partial_fit(self.fill(numbers[rows]), table.y[rows])
        if self.names is not None:
            self.names.partial_fit(codes[rows], table.y[rows])

    def size(self):
        return len(pickle.dumps((self.gauss, self.names)))


def tree_reading(tree):
    """Leaves, and the tests on the paths to all of them."""
    rules = tests = 0
    stack = [(0, 0)]
    while stack:
        node, depth = stack.pop()
        if tree.children_left[node] < 0:
            rules, tests = rules + 1, tests + depth
        else:
            stack += [(tree.children_left[node], depth + 1), (tree.children_right[node], depth + 1)]
    return rules, tests


class Ordinal(peer.Model):
    def encode(self, table):
        self.x = table.ordinal()

    def fit(self, table, rows):
        self.fill = peer.filler(table, self.x[rows])
        self.estimator = self.new().fit(self.fill(self.x[rows]), table.y[rows])
        return self

    def proba(self, table, rows):
        return table.whole(self.estimator.predict_proba(self.fill(self.x[rows])), self.estimator.classes_)


class Tree(Ordinal):
    new = staticmethod(lambda: DecisionTreeClassifier(random_state=1))

    def reading(self):
        return tree_reading(self.estimator.tree_)


class ShallowTree(Tree):
    new = staticmethod(lambda: DecisionTreeClassifier(criterion="entropy", max_depth=10, random_state=1))


class Ensemble(Ordinal):
    def reading(self):
        return tuple(map(sum, zip(*(tree_reading(e.tree_) for e in self.estimator.estimators_))))


class Forest(Ensemble):
    new = staticmethod(lambda: RandomForestClassifier(n_jobs=-1, random_state=1))


class AdaBoost(Ensemble):
    new = staticmethod(lambda: AdaBoostClassifier(random_state=1))


class Scaled(peer.Model):
    """One-hot names; all columns with mean 0 and deviation 1 on the training rows."""

    def encode(self, table):
        self.x = table.one_hot()

    def fit(self, table, rows):
        x = self.x[rows]
        self.fill = peer.filler(table, x)
        x = self.fill(x)
        self.mean, self.deviation = x.mean(axis=0), x.std(axis=0)
        self.deviation[self.deviation == 0] = 1
        self.estimator = self.new().fit((x - self.mean) / self.deviation, table.y[rows])
        return self

    def scaled(self, rows):
        return (self.fill(self.x[rows]) - self.mean) / self.deviation

    def proba(self, table, rows):
        return table.whole(self.estimator.predict_proba(self.scaled(rows)), self.estimator.classes_)


class Logistic(Scaled):
    new = staticmethod(lambda: LogisticRegression(max_iter=1000))


class Network(Scaled):
    new = staticmethod(lambda: MLPClassifier(random_state=1))

    def update(self, table, rows):
        self.estimator.partial_fit(self.scaled(rows), table.y[rows])


class Neighbours(Scaled):
    new = staticmethod(KNeighborsClassifier)


class Vote(Scaled):
    """The mean of naive Bayes, a tree and a network, as our committee's members."""

    new = staticmethod(lambda: VotingClassifier([
        ("bayes", GaussianNB()), ("tree", DecisionTreeClassifier(random_state=1)), ("mlp", MLPClassifier(random_state=1))], voting="soft"))


class MixtureByClass:
    """A mixture of Gaussians for each class, and Bayes' rule."""

    def fit(self, x, y):
        self.classes_, counts = np.unique(y, return_counts=True)
        self.log_prior = np.log(counts / len(y))
        new = lambda n: GaussianMixture(min(5, n), covariance_type="diag", reg_covar=1e-2, random_state=1)
        twice = lambda rows: rows if len(rows) > 1 else np.repeat(rows, 2, axis=0)
        self.mixtures = [new(n).fit(twice(x[y == c])) for c, n in zip(self.classes_, counts)]
        return self

    def predict_proba(self, x):
        log = np.column_stack([m.score_samples(x) for m in self.mixtures]) + self.log_prior
        p = np.exp(log - log.max(axis=1, keepdims=True))
        return p / p.sum(axis=1, keepdims=True)


class Mixture(Scaled):
    new = MixtureByClass


peer.main({
    "DummyClassifier": Dummy, "naive Bayes": NaiveBayes, "tree": Tree, "tree of depth 10": ShallowTree,
    "random forest": Forest, "AdaBoost": AdaBoost, "logistic regression": Logistic, "MLPClassifier": Network, "VotingClassifier": Vote,
    "GaussianMixture by class": Mixture,
    "KNeighborsClassifier": Neighbours, "Ridge": lambda: Ridge(),
    # our words: runs of letters, digits and _
    "MultinomialNB": lambda: make_pipeline(CountVectorizer(token_pattern=r"(?u)\w+"), MultinomialNB()),
}, sklearn.__version__)
