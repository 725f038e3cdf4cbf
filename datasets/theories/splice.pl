% What is held to make a splice junction: the theory that goes with the set splice
% (UCI Molecular Biology, Splice-junction Gene Sequences; Noordewier, Towell &
% Shavlik 1991), a test for each nucleotide. Y, which is C or T, is written (C;T).
% Alone, and with N where it says nothing, it is right on 62.3 % of the 3,190 rows.
ei_stop :- attribute_28=T, attribute_29=A, attribute_30=A.
ei_stop :- attribute_28=T, attribute_29=A, attribute_30=G.
ei_stop :- attribute_28=T, attribute_29=G, attribute_30=A.
ei_stop :- attribute_27=T, attribute_28=A, attribute_29=A.
ei_stop :- attribute_27=T, attribute_28=A, attribute_29=G.
ei_stop :- attribute_27=T, attribute_28=G, attribute_29=A.
ei_stop :- attribute_26=T, attribute_27=A, attribute_28=A.
ei_stop :- attribute_26=T, attribute_27=A, attribute_28=G.
ei_stop :- attribute_26=T, attribute_27=G, attribute_28=A.
ie_stop :- attribute_31=T, attribute_32=A, attribute_33=A.
ie_stop :- attribute_31=T, attribute_32=A, attribute_33=G.
ie_stop :- attribute_31=T, attribute_32=G, attribute_33=A.
ie_stop :- attribute_32=T, attribute_33=A, attribute_34=A.
ie_stop :- attribute_32=T, attribute_33=A, attribute_34=G.
ie_stop :- attribute_32=T, attribute_33=G, attribute_34=A.
ie_stop :- attribute_33=T, attribute_34=A, attribute_35=A.
ie_stop :- attribute_33=T, attribute_34=A, attribute_35=G.
ie_stop :- attribute_33=T, attribute_34=G, attribute_35=A.
pyramidine_rich :- n_of(6,[attribute_16=(C;T), attribute_17=(C;T), attribute_18=(C;T), attribute_19=(C;T), attribute_20=(C;T), attribute_21=(C;T), attribute_22=(C;T), attribute_23=(C;T), attribute_24=(C;T), attribute_25=(C;T)]).
ei :- attribute_28=(A;C), attribute_29=A, attribute_30=G, attribute_31=G, attribute_32=T, attribute_33=(A;G), attribute_34=A, attribute_35=G, attribute_36=T, \+ ei_stop.
ie :- pyramidine_rich, attribute_28=(C;T), attribute_29=A, attribute_30=G, attribute_31=G, \+ ie_stop.
