package linear

func setVectors(on bool) { vectors = on }
