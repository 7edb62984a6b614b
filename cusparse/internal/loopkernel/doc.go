// Package loopkernel writes the kernel of a recorded loop: CUDA C of the list of package pass, on
// the functions of cusparse/kernels/pass.cu. It knows no devices and no memory. Compose returns the
// text with the words that a launch gives the kernel.
//
// Steps become stages. A chain of steps that compute position by position is one stage: over all
// positions, or over the list of a vector if the chain changes nothing where the vector has no
// entry. A product, a scatter, a gather that reads its destination, and a sum are stages of their
// own. Barriers of the grid stand where a stage reads what other threads wrote.
package loopkernel
