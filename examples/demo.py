"""Five points of accuracy to spend on the breast cancer data: which of 30 columns can go?"""

from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from pinsker import BackwardElimination

BUDGET = 0.05


def main():
    data = load_breast_cancer()
    X_train, X_test, y_train, y_test = train_test_split(
        data.data, data.target, test_size=0.3, stratify=data.target, random_state=0
    )
    selector = BackwardElimination(error_budget=BUDGET).fit(X_train, y_train)

    print(f"breast cancer, {X_train.shape[0]} rows to search, error budget {BUDGET}: kept")
    for name in selector.get_feature_names_out(data.feature_names):
        print(f"  {name}")
    print(f"\n{selector.certificate_}\n")

    def accuracy(support):
        model = make_pipeline(StandardScaler(), SVC()).fit(X_train[:, support], y_train)
        return model.score(X_test[:, support], y_test)

    print(f"RBF SVM on the {X_test.shape[0]} rows left out:")
    print(f"  all {X_train.shape[1]:2d} columns  {accuracy(selector.ranking_ > 0):.3f}")
    for budget in (0.0, BUDGET, 0.1, 0.25):
        support = selector.support_at(error_budget=budget)
        print(f"  budget {budget:<5} {support.sum():2d} columns  {accuracy(support):.3f}")


if __name__ == "__main__":
    main()
