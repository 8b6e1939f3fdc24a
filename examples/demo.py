"""Five points of accuracy to spend on the breast cancer data: which of 30 columns can go?"""

from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from pinsker import FeatureSelector, audit

BUDGET = 0.05
REPORT = "demo_report.html"


def main():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X_train, X_test, y_train, y_test = train_test_split(
        X, y, test_size=0.3, stratify=y, random_state=0
    )
    print(f"breast cancer: {len(X_train)} rows to search, {X.shape[1]} columns, budget {BUDGET}")
    selector = FeatureSelector(error_budget=BUDGET, n_jobs=2, random_state=0).fit(X_train, y_train)

    print("\nkept: " + ", ".join(selector.get_feature_names_out()))
    print(f"\n{selector.certificate_}\n")

    print("another budget needs no new search:")
    for budget in (0.02, BUDGET, 0.1):
        print(f"  {budget:<5} {int(selector.support_at(error_budget=budget).sum()):2d} columns")

    print(f"\nan SVM on {len(X_test)} rows that took no part in the search:")
    model = make_pipeline(StandardScaler(), SVC())
    print(audit(selector, model, X_test, y_test, X_train=X_train, y_train=y_train))

    selector.report(REPORT)
    print(f"\nwrote {REPORT}: open it in a browser")


if __name__ == "__main__":
    main()
