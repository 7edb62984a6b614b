package apps

import (
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
)

// Run says how a workflow runs. See [workflow.Run].
type Run = workflow.Run

// Method is the form of a workflow. See [workflow.Method].
type Method = workflow.Method

// Auto runs the form that is the fastest where the graph lives: on a device the fused form of a
// workflow that has one, on the host a kernel of the host where there is one (scan statistics, core
// numbers, independent sets, strong components and others), on a group the form divided among the
// ranks, and else the pipeline.
const Auto = workflow.Auto

// Pipeline runs the operations of the formula, where the graph lives.
const Pipeline = workflow.Pipeline

// Fused runs the kernels that a workflow has for the whole of it.
const Fused = workflow.Fused

// Stage receives progress: the name of the stage, and how much of it is done. See [workflow.Stage].
type Stage = workflow.Stage

// A ParameterError says that a parameter of a workflow is outside its range. See
// [workflow.ParameterError].
type ParameterError = workflow.ParameterError

// A VertexError is a *[ParameterError] about vertices, to which errors.As converts it. See
// [workflow.VertexError].
type VertexError = workflow.VertexError

// A WeightError names an edge with a weight that a workflow cannot use. See [workflow.WeightError].
type WeightError = workflow.WeightError
