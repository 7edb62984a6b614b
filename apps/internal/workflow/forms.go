package workflow

import (
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/matrix"
)

// Forms are the forms of a workflow beside its operations or loops, which Method Pipeline runs
// anywhere.
type Forms struct {
	Host   bool // a kernel of the host, which Auto takes
	Device bool // kernels for the whole of it on a device, which Auto and Fused take
	// Group is how Auto divides it among the ranks of a group: "ranges" of independent work, "rows"
	// of the graph by kernels of each rank, "shares" of its vertices on devices. Without, a group
	// divides each operation.
	Group string
	// HostRows says that ranks on the host take the rows too, else only devices do under Auto: the
	// rank's kernel is the kernel of the host.
	HostRows bool
}

// forms are the forms of all workflows, by the names that errors and traces have. A workflow that
// is not here has its operations or loops alone. The tests of apps compare them with what runs.
var forms = map[string]Forms{
	"BFS":                         {Host: true, Device: true, Group: ByRows}, // on the host its parents
	"Betweenness":                 {Host: true, Device: true, Group: ByRanges},
	"BipartiteMatching":           {Host: true},
	"Classify":                    {Device: true},
	"Closeness":                   {Host: true, Device: true, Group: ByRanges},
	"Colouring":                   {Host: true, Device: true},
	"Communities":                 {Device: true, Group: "shares"},
	"ConnectedComponents":         {Host: true, Device: true, Group: ByRows},
	"CoreNumbers":                 {Host: true, Device: true},
	"Diameter":                    {Host: true, Device: true}, // by the kernels of BFS
	"FusedLasso":                  {Device: true, Group: ByRanges},
	"Geolocate":                   {Host: true, Device: true},
	"GraphSAGE":                   {Device: true, Group: ByRanges},
	"GraphSearch":                 {Device: true, Group: ByRanges},
	"LabelPropagation":            {Host: true, Device: true},
	"LocalCluster":                {Group: ByRanges},
	"LocalClustering":             {Device: true}, // by the kernels of ScanStatistics
	"MaxFlow":                     {Device: true},
	"MaximalIndependentSet":       {Host: true, Device: true},
	"MinimumSpanningForest":       {Device: true},
	"PageRank":                    {Host: true, Device: true, Group: ByRows, HostRows: true},
	"Projection":                  {Group: ByRanges},
	"SSSP":                        {Host: true, Device: true, Group: ByRows},
	"ScanStatistics":              {Host: true, Device: true, Group: ByRanges},
	"Similarity":                  {Host: true},
	"StronglyConnectedComponents": {Host: true, Device: true},
	"TopologicalOrder":            {Host: true},
	"TriangleCount":               {Device: true},
	"VertexNomination":            {Device: true, Group: ByRows},
}

// FormsOf returns the forms of a workflow.
func FormsOf(app string) Forms { return forms[app] }

// A Form is the form of one run. The zero value is the pipeline.
type Form struct {
	Rows   *Division     // kernels of each rank for its rows
	Device device.Runner // kernels of a device
	Host   bool          // a kernel of the host
}

// Choose returns the form that a workflow runs in at a place. Divisions by ranges begin by Divide,
// in which the ranks first agree. SSSP, Communities and training choose by element types and
// weights too, and ask GroupRows and FusedOn; so do workflows with no other form than a device's.
func Choose(r Run, app string, at matrix.Place) (f Form, err error) {
	has := forms[app]
	if has.Group == ByRows {
		if f.Rows = GroupRows(r, app, at); f.Rows != nil {
			return f, nil
		}
	}
	if has.Device {
		f.Device, err = FusedOn(r, app, at)
	} else {
		err = r.notFused(app)
	}
	f.Host = has.Host && r.Method == Auto && at == nil
	return f, err
}
