% Played at some humidity, played at every lower one; and one day on which it was.
plays(D) :- played(E), humidity(E,H), humidity(D,L), L =< H.
played(monday).
humidity(monday,0.30). humidity(tuesday,0.25). humidity(wednesday,0.30). humidity(thursday,0.45).
