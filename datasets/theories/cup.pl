% What makes a cup (Mitchell 1997, table 12.3): goes with the set cup. It misses the
% two cups without a handle, and takes two objects for cups that are none.
cup :- stable, liftable, open_vessel.
stable :- bottom_is_flat.
liftable :- graspable, light.
graspable :- has_handle.
open_vessel :- has_concavity, concavity_points_up.
