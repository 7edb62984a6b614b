package emu

// Prune is prune.
var Prune = prune
