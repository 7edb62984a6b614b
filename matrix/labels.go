package matrix

type Labels struct{}
