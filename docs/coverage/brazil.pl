% Nationality determines language; and one person.
speaks(X,L) :- nationality(X,N), nationality(Y,N), heard(Y,L).
heard(joe,portuguese).
age(joe,23). hand(joe,left). nationality(joe,brazil).
age(ana,61). hand(ana,right). nationality(ana,brazil). age(tom,23). hand(tom,left). nationality(tom,usa).
