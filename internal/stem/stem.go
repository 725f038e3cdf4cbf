// Package stem takes the endings off English words, so that forms of one word
// are counted together: connect, connected, connecting, connections. It is the
// algorithm of Porter (1980), step by step, as the paper has it. The measure m of a
// word is how often a consonant follows a vowel in it: [C](VC)^m[V]. Package table
// cuts texts into words; learners/bayes counts them by their stems where asked to.
package stem

// English returns a lower-cased word without its ending. Words of one or two
// letters, and those with other characters than a to z, stay as they are.
func English(word string) string {
	if len(word) < 3 {
		return word
	}
	for i := range len(word) {
		if word[i] < 'a' || word[i] > 'z' {
			return word
		}
	}
	s := &stemmer{b: []byte(word)}
	s.plurals()
	s.past()
	s.final()
	s.replace(step2)
	s.replace(step3)
	s.strip()
	s.tidy()
	return string(s.b)
}

type stemmer struct{ b []byte }

// consonant reports whether the letter at a place is one: not a, e, i, o, u, nor
// a y after a consonant.
func (s *stemmer) consonant(i int) bool {
	switch s.b[i] {
	case 'a', 'e', 'i', 'o', 'u':
		return false
	case 'y':
		return i == 0 || !s.consonant(i-1)
	}
	return true
}

// measure returns m of the first n letters.
func (s *stemmer) measure(n int) int {
	m, vowel := 0, false
	for i := range n {
		if s.consonant(i) {
			if vowel {
				m++
			}
			vowel = false
		} else {
			vowel = true
		}
	}
	return m
}

// vowelled reports whether the first n letters have a vowel.
func (s *stemmer) vowelled(n int) bool {
	for i := range n {
		if !s.consonant(i) {
			return true
		}
	}
	return false
}

// doubled reports whether the first n letters end with a double consonant.
func (s *stemmer) doubled(n int) bool {
	return n >= 2 && s.b[n-1] == s.b[n-2] && s.consonant(n-1)
}

// short reports whether the first n letters end with consonant, vowel,
// consonant, the last not w, x or y.
func (s *stemmer) short(n int) bool {
	if n < 3 || !s.consonant(n-1) || s.consonant(n-2) || !s.consonant(n-3) {
		return false
	}
	return s.b[n-1] != 'w' && s.b[n-1] != 'x' && s.b[n-1] != 'y'
}

// ends returns the length of the word before an ending, or -1.
func (s *stemmer) ends(ending string) int {
	n := len(s.b) - len(ending)
	if n < 0 || string(s.b[n:]) != ending {
		return -1
	}
	return n
}

// set replaces what follows the first n letters.
func (s *stemmer) set(n int, ending string) { s.b = append(s.b[:n], ending...) }

// plurals is step 1a.
func (s *stemmer) plurals() {
	switch {
	case s.ends("sses") >= 0, s.ends("ies") >= 0:
		s.b = s.b[:len(s.b)-2]
	case s.ends("ss") >= 0:
	case s.ends("s") >= 0:
		s.b = s.b[:len(s.b)-1]
	}
}

// past is step 1b.
func (s *stemmer) past() {
	if n := s.ends("eed"); n >= 0 {
		if s.measure(n) > 0 {
			s.b = s.b[:len(s.b)-1]
		}
		return
	}
	n := s.ends("ed")
	if n < 0 {
		n = s.ends("ing")
	}
	if n < 0 || !s.vowelled(n) {
		return
	}
	s.b = s.b[:n]
	switch {
	case s.ends("at") >= 0, s.ends("bl") >= 0, s.ends("iz") >= 0:
		s.b = append(s.b, 'e')
	case s.doubled(n):
		if l := s.b[n-1]; l != 'l' && l != 's' && l != 'z' {
			s.b = s.b[:n-1]
		}
	case s.measure(n) == 1 && s.short(n):
		s.b = append(s.b, 'e')
	}
}

// final is step 1c.
func (s *stemmer) final() {
	if n := s.ends("y"); n >= 0 && s.vowelled(n) {
		s.b[n] = 'i'
	}
}

// The endings of steps 2 and 3 and what takes their place, where m > 0.
var (
	step2 = [][2]string{
		{"ational", "ate"}, {"tional", "tion"}, {"enci", "ence"}, {"anci", "ance"}, {"izer", "ize"}, {"abli", "able"}, {"alli", "al"},
		{"entli", "ent"}, {"eli", "e"}, {"ousli", "ous"}, {"ization", "ize"}, {"ation", "ate"}, {"ator", "ate"}, {"alism", "al"},
		{"iveness", "ive"}, {"fulness", "ful"}, {"ousness", "ous"}, {"aliti", "al"}, {"iviti", "ive"}, {"biliti", "ble"},
	}
	step3 = [][2]string{{"icate", "ic"}, {"ative", ""}, {"alize", "al"}, {"iciti", "ic"}, {"ical", "ic"}, {"ful", ""}, {"ness", ""}}
	step4 = []string{"al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion", "ou", "ism", "ate", "iti", "ous", "ive", "ize"}
)

// replace is steps 2 and 3: the first ending that fits decides. Those that end
// others stand behind them.
func (s *stemmer) replace(endings [][2]string) {
	for _, e := range endings {
		if n := s.ends(e[0]); n >= 0 {
			if s.measure(n) > 0 {
				s.set(n, e[1])
			}
			return
		}
	}
}

// strip is step 4: endings go where m > 1.
func (s *stemmer) strip() {
	for _, ending := range step4 {
		n := s.ends(ending)
		if n < 0 {
			continue
		}
		if s.measure(n) > 1 && (ending != "ion" || n > 0 && (s.b[n-1] == 's' || s.b[n-1] == 't')) {
			s.b = s.b[:n]
		}
		return
	}
}

// tidy is step 5.
func (s *stemmer) tidy() {
	if n := s.ends("e"); n >= 0 {
		if m := s.measure(n); m > 1 || m == 1 && !s.short(n) {
			s.b = s.b[:n]
		}
	}
	if n := len(s.b); s.ends("ll") >= 0 && s.measure(n) > 1 {
		s.b = s.b[:n-1]
	}
}
