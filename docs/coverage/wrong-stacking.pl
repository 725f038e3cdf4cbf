% A theory with a clause too many and one too few: whatever is lighter or made of wood can be stacked on.
safe_to_stack(X,Y) :- lighter(X,Y).
safe_to_stack(X,Y) :- material(X,wood), weight(Y,W).
lighter(X,Y) :- weight(X,Wx), weight(Y,Wy), less_than(Wx,Wy).
weight(X,W) :- volume(X,V), density(X,D), equal(W,times(V,D)).
weight(X,5) :- type(X,endtable).
less_than(A,B) :- A < B.
equal(W,times(V,D)) :- W is V*D.
