// Package apps is the catalogue of the graph workflows. Its functions forward to the package of
// their family, which can be imported by itself, and its types are aliases: the fields of
// BFSOptions are on the page of paths.BFSOptions. Most workflows have a pipeline of the operations
// of package ops that reads like its mathematics; what makes some of them fast, kernels of the host
// and of devices and divisions among ranks, stands beside it in the package of the family.
//
// The workflows of the DARPA HIVE program are Classify, Geolocate, GraphSAGE, GraphSearch,
// Communities, LocalCluster, Projection, ScanStatistics, SGM, FusedLasso and VertexNomination.
//
// The families and their workflows:
//
//	centrality   PageRank, WeightedPageRank, Betweenness, Closeness, HITS,
//	             EigenvectorCentrality, KatzCentrality: ranks the vertices of a graph
//	classify     Classify: matches a pattern with features in a data graph
//	communities  Communities, LabelPropagation: partitions graphs
//	components   ConnectedComponents, StronglyConnectedComponents, MinimumSpanningForest:
//	             finds what is connected
//	cores        KTruss, CoreNumbers: finds the dense parts of a graph
//	embed        Embed, HoldOutLinks, MeasureLinks: embeds vertices by walks
//	features     VertexFeatures: makes tables of figures about the vertices of a graph, as
//	             input of learning
//	flow         MaxFlow: finds maximum flows and minimum cuts, on the host by trees of
//	             the source and the sink, on devices by pushes
//	geo          Geolocate: infers the places of vertices from the places of their
//	             neighbours
//	lasso        FusedLasso, FusedLassoPath, FusedLassoBatch: smooths values on a graph to
//	             piecewise constant ones
//	lgc          LocalCluster, NewClusterer: finds clusters around seeds
//	nominate     NominateVertices, NominateByMatching: ranks vertices by what their
//	             neighbourhoods and their contents have in common with some vertices of
//	             interest
//	order        TopologicalOrder: orders vertices
//	paths        VertexNomination, BFS, SSSP, Diameter: searches for shortest paths
//	project      Projection, ProjectionTo, BipartiteMatching: projects bipartite graphs
//	             onto one side, whole or in blocks larger than memory, and matches the two
//	             sides
//	sage         GraphSAGE, TrainGraphSAGE: embeds vertices by features and neighbours
//	scan         ScanStatistics, ScanSeries: computes scan statistics
//	search       GraphSearch: sends out walks that look for vertices of high score, and
//	             reads and writes scores and walks
//	sets         MaximalIndependentSet, Colouring: finds sets of vertices without edges
//	             between them
//	sgm          SGM: matches the vertices of two graphs from some known pairs
//	triangles    TriangleCount, Similarity, LocalClustering: counts triangles, and what
//	             follows from them and from common neighbours
//
// A few stand on others: features on centrality, cores and triangles, flow on paths, nominate on
// paths, centrality and sgm, paths and communities on components, search on paths, triangles on
// scan, embed on search, sage/train on sage and embed/links.
//
// Every function takes its graph as a matrix, an edge from row to column. Settings are the last
// parameter, a struct; its zero value is the usual choice, and it may be left out. Functions return
// a *ParameterError if there are two. The embedded [Run] bounds threads, carries a context and
// reports progress.
//
//	levels, err := apps.BFS(graph, 0, apps.BFSOptions{Run: apps.Run{Threads: 4}})
//
// A workflow runs where its graph lives, on the host or on a device, and makes its results there.
// Between operations single numbers come to the host, such as a count of entries. Exceptions:
//
//   - The pipeline of Communities computes on the host.
//   - Geolocate computes medians on the sphere on the host, but for Method Pipeline.
//   - MaxFlow keeps the excesses on the host, and GraphSAGE by Method Pipeline chooses neighbours
//     there.
//   - SGM solves its assignments where package auction does. It numbers colours, percolates and
//     repairs the matching on the host.
//   - Embed trains vectors on the host, by walks taken where the graph lives.
//   - LocalCluster sweeps over the cluster on the host.
//   - MinimumSpanningForest and the augmenting paths of BipartiteMatching compute on the host.
//   - Similarity, TopologicalOrder and NominateVertices order their results on the host, and
//     Diameter keeps the bounds of its vertices there.
//
// Some workflows have a kernel for the host that is faster than their pipeline. Method Auto uses it
// for a graph on the host, and Pipeline runs the operations. MinimumSpanningForest,
// TopologicalOrder and SGM have more loops than operations in any form. Some have a fused form for
// devices, in files *gpu.go of the family with the kernels in its kernels/*.cu; Run.Method chooses.
//
// Bad input gives typed errors that name the argument and the remedy. Those about vertices,
// [VertexError], take the names of the vertices. Counts and distances do not overflow in silence:
// counts of shortest paths have exponents of their own, distances beyond the largest float are
// +Inf, and integers that cannot hold the result are an error. [List] lists the workflows
// for tools. docs/standard.md compares the standard set with other libraries, docs/workflows.md
// explains how to write a workflow.
package apps
