package formula

import "testing"

// Formulas that are equal, and some that are not.
func TestEqual(t *testing.T) {
	xy := []string{"x", "y"}
	for _, w := range []struct {
		a, b string
		want bool
	}{
		{"(x+y)^2", "x*x + 2*x*y + y^2", true}, {"x/(1+x) - 1", "-1/(1+x)", true}, {"sin(x-y)", "-sin(y-x)", true}, {"cos(x-y)", "cos(y-x)", true},
		{"log(x*y^2)", "log(x) + 2*log(y)", true}, {"exp(x+y)", "exp(x)*exp(y)", true}, {"sqrt(4*x)", "2*x^0.5", true}, {"x^y", "exp(y*log(x))", true},
		{"1/(1/x + 1/y)", "x*y/(x+y)", true}, {"x + 1e-9*y", "x", true}, {"sqrt(x^2+y^2)", "(y^2+x^2)^0.5", true},
		{"log(x+1) + log(x^2+1)", "log(x^3 + x^2 + x + 1)", true}, {"log(x^2+x) + log(x^3+x)", "log((x+x^2)^2*x + x^2 - x^4)", true},
		{"y + 2*log(x+1)", "log(x^2 + 2*x + 1) + y", true}, {"log(x+1) + log(x^2+1)", "log(x^3 + x^2 + x + 2)", false}, {"log(x+1)/2", "log(x+1)/3", false},
		{"x+y", "x-y", false}, {"sin(x)", "x", false}, {"x^2", "x^3", false}, {"x + 0.001*y", "x", false}, {"sqrt(x^2+y^2)", "x+y", false},
	} {
		a, err := Parse(w.a, xy)
		if err != nil {
			t.Fatal(err)
		}
		b, err := Parse(w.b, xy)
		if err != nil {
			t.Fatal(err)
		}
		if got := Equal(a, b, 1e-6); got != w.want {
			t.Errorf("%s and %s: equal is %v", w.a, w.b, got)
		}
	}
}
