% Mitchell 1997, table 11.1
safe_to_stack(X,Y) :- \+ fragile(Y).
safe_to_stack(X,Y) :- lighter(X,Y).
lighter(X,Y) :- weight(X,Wx), weight(Y,Wy), less_than(Wx,Wy).
weight(X,W) :- volume(X,V), density(X,D), equal(W,times(V,D)).
weight(X,5) :- type(X,endtable).
fragile(X) :- material(X,glass).
less_than(A,B) :- A < B.
equal(W,times(V,D)) :- W is V*D.
% the boxes
on(obj1,obj2).
type(obj1,box). type(obj2,endtable). type(obj3,lamp).
color(obj1,red). color(obj2,blue).
volume(obj1,2). density(obj1,0.3).
owner(obj1,fred). owner(obj2,louise).
material(obj1,cardboard). material(obj2,wood). material(obj3,glass).
