package inputs

// LGCRho gives an average support of 1050 vertices around a vertex of R-MAT 20.
const LGCRho = 1.4e-6
