package emu

// Prune is prune.
func (c Cache) Prune() { c.prune() }
