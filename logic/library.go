package logic

import (
	"fmt"
	"slices"
	"sync"
)

// library is what programs may call without clauses of their own; those that they have
// come first.
var library = sync.OnceValue(func() *Program {
	p, err := Read("library", `
		once(G) :- (G -> true).
		call(G) :- G.
		forall(C,A) :- \+ (C, \+ A).
		member(X,[X|_]).
		member(X,[_|T]) :- member(X,T).
		memberchk(X,L) :- once(member(X,L)).
		append([],L,L).
		append([H|T],L,[H|R]) :- append(T,L,R).
		length(L,N) :- var(N), length_from(L,0,N).
		length(L,N) :- integer(N), N >= 0, length_down(L,N).
		length_down([],0).
		length_down([_|T],N) :- N > 0, M is N-1, length_down(T,M).
		length_from([],N,N).
		length_from([_|T],M,N) :- K is M+1, length_from(T,K,N).
		reverse(L,R) :- reverse_onto(L,[],R).
		reverse_onto([],R,R).
		reverse_onto([H|T],S,R) :- reverse_onto(T,[H|S],R).
		last([X],X).
		last([_,Y|T],X) :- last([Y|T],X).
		select(X,[X|T],T).
		select(X,[H|T],[H|R]) :- select(X,T,R).
		nth0(N,L,X) :- nth_from(L,0,N,X).
		nth1(N,L,X) :- nth_from(L,1,N,X).
		nth_from([X|_],N,N,X).
		nth_from([_|T],M,N,X) :- K is M+1, nth_from(T,K,N,X).
		sum_list(L,S) :- sum_from(L,0,S).
		sum_from([],S,S).
		sum_from([H|T],R,S) :- Q is R+H, sum_from(T,Q,S).
		between(L,H,X) :- integer(X), L =< X, X =< H.
		between(L,H,X) :- var(X), between_from(L,H,X).
		between_from(L,H,L) :- L =< H.
		between_from(L,H,X) :- L < H, K is L+1, between_from(K,H,X).
		subsumes(C,D) :- '$subsumes'(C,D).
		entails(C,D) :- '$entails'(C,D).
		lgg(C,D,E) :- '$lggs'(C,D,[E]).
		resolvent(C,D,E) :- '$resolvents'(C,D,L), '$of'(E,L).
		inverse_resolvent(E,C,D) :- '$inverse_resolvents'(E,C,L), '$of'(D,L).
		loosened(C,D) :- '$loosened'(C,L), '$of'(D,L).
		'$of'(X,[X|_]).
		'$of'(X,[_|T]) :- '$of'(X,T).
	`)
	if err != nil {
		panic(err)
	}
	return p
})

// otherProlog are predicates of Prolog that are not understood here: they act, or speak of
// programs rather than of what these are about.
var otherProlog = []Predicate{
	{"findall", 3}, {"bagof", 3}, {"setof", 3}, {"aggregate_all", 3}, {"call", 2}, {"call", 3},
	{"assert", 1}, {"asserta", 1}, {"assertz", 1}, {"retract", 1}, {"functor", 3}, {"arg", 3}, {"=..", 2}, {"copy_term", 2},
	{"write", 1}, {"print", 1}, {"nl", 0}, {"format", 1}, {"format", 2}, {"read", 1}, {"atom_codes", 2}, {"atom_chars", 2},
	{"atom_length", 2}, {"atom_concat", 3}, {"atom_number", 2}, {"sub_atom", 5}, {"number_codes", 2}, {"char_code", 2},
	{"sort", 2}, {"msort", 2}, {"maplist", 2}, {"maplist", 3}, {"maplist", 4}, {"foldl", 4}, {"catch", 3}, {"throw", 1}, {"repeat", 0}, {"halt", 0},
	{"*->", 2}, {"dif", 2}, {"permutation", 2}, {"delete", 3}, {"exclude", 3}, {"include", 3}, {"max_list", 2}, {"min_list", 2}, {"succ", 2}, {"plus", 3},
}

// foreign returns an error for what Prolog has and is not understood here, which would be
// false without a word.
func foreign(of Predicate) error {
	if slices.Contains(otherProlog, of) {
		return fmt.Errorf("%v is Prolog's, and not understood here; write clauses for it, or facts of what it finds", of)
	}
	return nil
}

// isKnown reports whether a predicate needs no clauses of the program.
func isKnown(of Predicate) bool {
	return IsBuiltIn(of) || isControl(of) || library().relations[of] != nil
}

// isControl reports whether a predicate is about goals.
func isControl(of Predicate) bool {
	return of.Arity == 2 && (of.Name == "," || of.Name == ";" || of.Name == "->") || of == Predicate{`\+`, 1}
}

// Understood returns an error that says where a program asks for what is not understood
// here. What learns from a program asks it many times, and takes an error for no answer.
func (p *Program) Understood() error {
	if err := p.Redefined(); err != nil {
		return err
	}
	for _, c := range p.Clauses {
		for _, l := range c.Body {
			if err := p.follow(l.Atom); err != nil {
				return fmt.Errorf("line %d: %v: %w", c.Line, c, err)
			}
		}
	}
	return nil
}

// Redefined returns an error if a clause is about a predicate that is built in: it would
// never be asked.
func (p *Program) Redefined() error {
	for _, c := range p.Clauses {
		if of, ok := predicateOf(c.Head); ok && (IsBuiltIn(of) || isControl(of)) {
			return fmt.Errorf("line %d: %v is built in, and a program cannot say anew what it means; give the predicate another name", c.Line, of)
		}
	}
	return nil
}

// follow looks at a goal, and at the goals in it.
func (p *Program) follow(t Term) error {
	of, ok := predicateOf(t)
	if !ok || p.relations[of] != nil {
		return nil
	}
	if isControl(of) || of == (Predicate{"not", 1}) {
		for _, a := range t.(*Compound).Args {
			if err := p.follow(a); err != nil {
				return err
			}
		}
		return nil
	}
	if of == (Predicate{"!", 0}) {
		return errCut
	}
	return foreign(of)
}
