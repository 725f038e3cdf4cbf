cup(X) :- stable(X), liftable(X), open_vessel(X).
stable(X) :- bottom_is_flat(X).
liftable(X) :- graspable(X), light(X).
graspable(X) :- has_handle(X).
open_vessel(X) :- has_concavity(X), concavity_points_up(X).
