package main

import (
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/cmd/hiveblas/internal/charts"
	"github.com/hiveblas/hiveblas/cmd/hiveblas/internal/job"
	"github.com/hiveblas/hiveblas/internal/chart"
	"github.com/hiveblas/hiveblas/internal/cli"
)

// geoMedians are the values of --median.
var geoMedians = map[string]apps.GeoMedian{"sphere": apps.MedianSphere, "degrees": apps.MedianDegrees}

func geoCommand(s *job.Session) *cobra.Command {
	var (
		o                     apps.GeolocateOptions
		file, median, picture string
		base                  int
	)
	cmd := &cobra.Command{
		Use:   "geo GRAPH --locations FILE",
		Short: "Geolocation: infer places of vertices from those of their neighbours",
		Long: `geo gives each vertex without a known place the spatial median of the places of its
neighbours, in passes that end when no vertex can be located. The neighbours of a
vertex are the targets of its edges (see --undirected); weights and self-loops are
ignored. A located vertex does not move in later passes.

--median sphere is the place with the least sum of distances, degrees the median of
the HIVE report, which takes degrees for plane coordinates. --max-dispersion and
--max-distance leave a vertex unlocated if its neighbours are far from their median:
in the mean, or the farthest of them.

FILE has a line “vertex latitude longitude” for each known place, in degrees. A line
without coordinates is an unknown place; % and # begin comments, or what --comment
says; a first line “n 2 2”, or of names of columns, is a header. Vertices count from --locations-base; with --ids renumber they
are ids. -o writes vertex, latitude, longitude and pass of each located vertex, with
pass 0 for known places. --plot draws them on a map.`,
		Example: `  hiveblas geo mentions.txt --undirected --locations places.tsv -o located.tsv
  hiveblas geo graph.mtx --locations p.txt --locations-base 1 --median degrees --passes 1
  hiveblas geo graph.mtx --locations p.txt --max-dispersion 100 --plot map.png --json`,
		Args: cli.Positional("GRAPH"),
	}
	j := job.New(s, cmd).Computes(thresholdGeo).Fuses().Reads().Writes("the places", job.ListFiles...)
	fs := cmd.Flags()
	fs.StringVar(&file, "locations", "", "`FILE` of the known places")
	fs.IntVar(&base, "locations-base", 0, "the vertices of the known places count from `B`: 0 or 1")
	fs.StringVar(&median, "median", "sphere", "median `M` of three places or more: sphere or degrees")
	fs.IntVar(&o.Passes, "passes", 0, "run at most `N` passes (0: until no vertex can be located)")
	fs.Float64Var(&o.Tolerance, "tolerance", 0, "end a median with a step below `T`: metres, or degrees with --median degrees (0: 1 metre, 0.001 degrees)")
	fs.IntVar(&o.MaxIterations, "max-iterations", 1000, "end a median after `N` iterations")
	fs.IntVar(&o.MinNeighbours, "min-neighbours", 1, "locate vertices with `N` located neighbours or more")
	fs.Float64Var(&o.MaxDispersion, "max-dispersion", 0, "largest mean distance `KM` of the neighbours from their median (0: no limit)")
	fs.Float64Var(&o.MaxDistance, "max-distance", 0, "largest distance `KM` of a neighbour from the median (0: no limit)")
	fs.BoolVar(&o.Single, "single", false, "compute medians in float32")
	fs.StringVar(&picture, "plot", "", "draw a map into `FILE`, a .png")
	cli.Complete(cmd, "median", "sphere", "degrees")
	cli.Complete(cmd, "locations-base", "0", "1")

	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		bad := func(format string, args ...any) error {
			return cli.Usage(cmd.CommandPath(), fmt.Sprintf(format, args...))
		}
		var known bool
		o.Median, known = geoMedians[median]
		switch {
		case file == "":
			return bad("--locations is missing")
		case !known:
			return bad("--median is %q, want sphere or degrees", median)
		case base != 0 && base != 1:
			return bad("--locations-base is %d, want 0 or 1", base)
		case o.Passes < 0:
			return bad("--passes is %d, want 1 or more, or 0 for no limit", o.Passes)
		case !(o.Tolerance > 0) && cmd.Flags().Changed("tolerance") && o.Tolerance != 0:
			return bad("--tolerance is %v, want a positive number", o.Tolerance)
		case o.MaxIterations < 1:
			return bad("--max-iterations is %d, want 1 or more", o.MaxIterations)
		case o.MinNeighbours < 1:
			return bad("--min-neighbours is %d, want 1 or more", o.MinNeighbours)
		case !(o.MaxDispersion >= 0):
			return bad("--max-dispersion is %v, want kilometres, or 0 for no limit", o.MaxDispersion)
		case !(o.MaxDistance >= 0):
			return bad("--max-distance is %v, want kilometres, or 0 for no limit", o.MaxDistance)
		}
		if err := j.Begin(args[0], file); err != nil {
			return err
		}
		if err := j.CheckPicture(picture, args[0], file); err != nil {
			return err
		}
		if err := j.LoadSquare(args[0], job.Structure); err != nil {
			return err
		}
		var locations *apps.Locations
		err := j.Stage("read", func() (err error) {
			locations, err = readLocations(j, file, base)
			return err
		})
		if err != nil {
			return err
		}
		var res *apps.Geolocation
		err = j.Compute(func(run apps.Run) (err error) {
			o.Run = run
			res, err = apps.Geolocate(j.Graph.Matrix, locations, o)
			if err != nil {
				return err
			}
			return job.ToHost(nil, res.Latitude, res.Longitude, res.Pass)
		})
		if err != nil {
			return err
		}
		if err := j.Writing(func() error { return writePlaces(j, res) }); err != nil {
			return err
		}
		err = j.Draw(picture, func(w io.Writer) error { return mapPlot(res).WritePNG(w, 9, 5) })
		if err != nil {
			return err
		}
		figures := []job.Field{{Key: "known", Label: "known", Value: res.Known}, {Key: "located", Label: "located", Value: res.Located},
			{Key: "unlocated", Label: "unlocated", Value: res.Unlocated}, {Key: "passes", Label: "passes", Value: res.Passes},
			{Key: "unfinished", Label: "unfinished medians", Value: res.Unfinished}}
		if picture != "" {
			figures = append(figures, job.Field{Key: "plot", Label: "picture", Value: picture})
		}
		return j.Report(figures, nil)
	}
	return cmd
}

// readLocations reads the file of --locations.
func readLocations(j *job.Job, file string, base int) (*apps.Locations, error) {
	o := apps.LocationOptions{Run: apps.Run{Context: j.Ctx, Progress: j.Progress.Update}, TextOptions: j.Read.Text(), Name: job.NameOf(file), Base: base}
	if j.Graph.Cols != nil && !j.Graph.Counted {
		o.Index = j.Graph.Cols.Index
	}
	in, err := j.OpenInput(file)
	if err != nil {
		return nil, job.Explain(job.NameOf(file), err)
	}
	defer in.Close()
	n, _ := j.Graph.Dims()
	locations, err := apps.ReadLocations(in.R, n, o)
	return locations, job.ExplainLines(job.NameOf(file), "--locations-base", err)
}

// writePlaces writes vertex, latitude, longitude and pass of each located vertex.
func writePlaces(j *job.Job, res *apps.Geolocation) error {
	return j.WriteLines(int(res.Latitude.NVals()), func(line func(fields ...string) error) error {
		for v, lat := range res.Latitude.All() {
			lon, _ := res.Longitude.At(v)
			pass, _ := res.Pass.At(v)
			if err := line(j.Graph.Name(v), job.Text(lat), job.Text(lon), strconv.Itoa(int(pass))); err != nil {
				return err
			}
		}
		return nil
	})
}

// mapPlot draws known and inferred places on a graticule of 30 degrees.
func mapPlot(res *apps.Geolocation) *chart.Chart {
	p := &chart.Chart{Padding: 5, Bottom: true,
		Title: fmt.Sprintf("%d known places, %d inferred in %d passes", res.Known, res.Located-res.Known, res.Passes),
		X:     chart.Axis{Label: "longitude", Min: -180, Max: 180, Ticks: graticule(60, "W", "E")},
		Y:     chart.Axis{Label: "latitude", Min: -90, Max: 90, Ticks: graticule(30, "S", "N")}}
	for at := -180.0; at <= 180; at += 30 {
		p.Line("", []chart.Point{{X: at, Y: -90}, {X: at, Y: 90}}, charts.Palest, 0.5)
		if at >= -90 && at <= 90 {
			p.Line("", []chart.Point{{X: -180, Y: at}, {X: 180, Y: at}}, charts.Palest, 0.5)
		}
	}
	var known, inferred []chart.Point
	for v, lat := range res.Latitude.All() {
		lon, _ := res.Longitude.At(v)
		if pass, _ := res.Pass.At(v); pass == 0 {
			known = append(known, chart.Point{X: lon, Y: lat})
		} else {
			inferred = append(inferred, chart.Point{X: lon, Y: lat})
		}
	}
	p.Dots("inferred", inferred, job.Alarm, 1.5)
	p.Dots("known", known, charts.Darkest, 1.5)
	return p
}

// graticule labels every so many degrees.
func graticule(every float64, below, above string) func(low, high float64) []chart.Tick {
	return func(low, high float64) (ticks []chart.Tick) {
		for at := low; at <= high; at += every {
			label := strconv.Itoa(int(at)) + "°" + above
			if at < 0 {
				label = strconv.Itoa(int(-at)) + "°" + below
			}
			ticks = append(ticks, chart.Tick{Value: at, Label: label})
		}
		return ticks
	}
}
