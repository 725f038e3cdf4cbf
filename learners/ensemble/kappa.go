package ensemble

// kappa is how far two members agree beyond chance: (Θ1 − Θ2)/(1 − Θ2), Θ1
// being the share of rows on which they agree and Θ2 the share on which they
// would by chance. Rows count as much as they weigh. Two that always say the
// same have κ = 1.
func kappa(a, b []int32, weight func(row int) float64, classes int) float64 {
	n, agree := 0.0, 0.0
	as, bs := make([]float64, classes), make([]float64, classes)
	for i := range a {
		w := weight(i)
		n += w
		if a[i] == b[i] {
			agree += w
		}
		as[a[i]] += w
		bs[b[i]] += w
	}
	chance := 0.0
	for c := range as {
		chance += as[c] / n * bs[c] / n
	}
	if chance >= 1 {
		return 1
	}
	return (agree/n - chance) / (1 - chance)
}
