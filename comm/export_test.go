package comm

// Pieces sets the number of bytes from which a broadcast goes in pieces.
func Pieces(n int64) Option { return func(o *options) { o.pieces = n } }
