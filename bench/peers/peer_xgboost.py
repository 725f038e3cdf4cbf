"""XGBoost with its default settings and histograms, its fast way."""
import numpy as np
import xgboost

import peer


class Boosted(peer.Model):
    def encode(self, table):
        self.x = table.ordinal()

    def fit(self, table, rows):
        # Classes without training rows would be an error.
        self.seen, y = np.unique(table.y[rows], return_inverse=True)
        self.estimator = xgboost.XGBClassifier(tree_method="hist").fit(self.x[rows], y)
        return self

    def proba(self, table, rows):
        return table.whole(self.estimator.predict_proba(self.x[rows]), self.seen)

    def size(self):
        return len(self.estimator.get_booster().save_raw("ubj"))

    def reading(self):
        leaves = [line for tree in self.estimator.get_booster().get_dump() for line in tree.splitlines() if "leaf=" in line]
        return len(leaves), sum(len(line) - len(line.lstrip("\t")) for line in leaves)


peer.main({"XGBClassifier": Boosted, "XGBRegressor": lambda: xgboost.XGBRegressor(tree_method="hist")}, xgboost.__version__)
