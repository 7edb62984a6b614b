package workflow

// tuned are settings of a run in place of their defaults, which tests give.
type tuned struct {
	settings any
	next     *tuned
}

// Tuned returns a run with settings in place of the defaults of their type: thresholds and sizes
// that no user sets.
func Tuned(r Run, settings any) Run {
	r.tuned = &tuned{settings, r.tuned}
	return r
}

// Tuning returns the settings of a type that a run has, else the defaults.
func Tuning[S any](r Run, defaults S) S {
	for t := r.tuned; t != nil; t = t.next {
		if s, ok := t.settings.(S); ok {
			return s
		}
	}
	return defaults
}

// DividedEntries is the number of entries for each batch from which the devices of a group divide a
// sweep.
type DividedEntries int64
