// Package programs measures graph programs: Run beside published sets of graphs, Space and
// SpacePrograms by the plans of composed kernels.
package programs
