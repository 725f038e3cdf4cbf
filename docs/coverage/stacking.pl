% Mitchell 1997, table 11.1
safe_to_stack(X,Y) :- \+ fragile(Y).
safe_to_stack(X,Y) :- lighter(X,Y).
lighter(X,Y) :- weight(X,Wx), weight(Y,Wy), less_than(Wx,Wy).
weight(X,W) :- volume(X,V), density(X,D), equal(W,times(V,D)).
weight(X,5) :- type(X,endtable).
fragile(X) :- material(X,glass).
less_than(A,B) :- A < B.
equal(W,times(V,D)) :- W is V*D.
