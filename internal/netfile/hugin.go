package netfile

// readHugin reads Hugin's language: a block for the net, one for each node and
// a potential for each, all of the form key = value; with comments after %.
func readHugin(d *draft, l *lexer) error {
	l.marks, l.next = "{}()=;|", nil
	l.at, l.line = 0, 1
	for {
		switch t := l.take(); {
		case t.kind == end:
			return nil
		case t.text == "net":
			if err := huginBlock(l, func(string, int) (bool, error) { return false, nil }); err != nil {
				return err
			}
		case t.text == "class":
			return l.fail(t.line, "classes of networks are not read; expected net { … }, nodes and potentials")
		case t.text == "discrete":
		case t.text == "node":
			if err := huginNode(d, l); err != nil {
				return err
			}
		case t.text == "potential":
			if err := huginPotential(d, l); err != nil {
				return err
			}
		case t.text == "continuous" || t.text == "decision" || t.text == "utility" || t.text == "function":
			return l.fail(t.line, "%s nodes are not read; expected discrete ones", t.text)
		default:
			return l.fail(t.line, "%v: expected net, node or potential", t)
		}
	}
}

// huginBlock reads { key = value; … } and hands the keys to a function, which
// says whether it took the value.
func huginBlock(l *lexer, take func(key string, line int) (bool, error)) error {
	if err := l.expect("{"); err != nil {
		return err
	}
	for !l.is("}") {
		key, err := l.name("a key")
		if err != nil {
			return err
		}
		if err := l.expect("="); err != nil {
			return err
		}
		took, err := take(key.text, key.line)
		if err != nil {
			return err
		}
		if took {
			err = l.expect(";")
		} else {
			err = l.statement()
		}
		if err != nil {
			return err
		}
	}
	return l.expect("}")
}

func huginNode(d *draft, l *lexer) error {
	name, err := l.name("a node's name")
	if err != nil {
		return err
	}
	var states []string
	err = huginBlock(l, func(key string, _ int) (bool, error) {
		if key != "states" {
			return false, nil
		}
		if err := l.expect("("); err != nil {
			return true, err
		}
		var err error
		states, err = l.names(")", "a state")
		return true, err
	})
	if err != nil {
		return err
	}
	return d.declare(name.line, name.text, states)
}

func huginPotential(d *draft, l *lexer) error {
	i, err := d.head(l, "a node's name")
	if err != nil {
		return err
	}
	said := false
	err = huginBlock(l, func(key string, line int) (bool, error) {
		if key != "data" {
			return false, nil
		}
		said = true
		xs, err := huginData(l)
		if err != nil {
			return true, err
		}
		return true, d.whole(line, i, xs, false)
	})
	if err == nil && !said { // as Hugin has it: a table of ones
		v := &d.net.Variables[i]
		for k := range v.Table {
			v.Table[k] = 1 / float64(len(v.States))
		}
	}
	return err
}

// huginData reads numbers in nested parentheses.
func huginData(l *lexer) ([]float64, error) {
	var xs []float64
	for depth := 0; ; {
		switch t := l.take(); {
		case t.kind == mark && t.text == "(":
			depth++
		case t.kind == mark && t.text == ")":
			if depth--; depth == 0 {
				return xs, nil
			}
		default:
			x, err := number(t.text)
			if err != nil || t.kind != word || depth == 0 {
				return nil, l.fail(t.line, "%v: expected numbers in parentheses", t)
			}
			if len(xs) >= MaxTable {
				return nil, l.fail(t.line, "more than %d numbers", MaxTable)
			}
			xs = append(xs, x)
		}
		if depth < 0 {
			return nil, l.fail(l.line, "\")\": expected numbers in parentheses")
		}
	}
}
