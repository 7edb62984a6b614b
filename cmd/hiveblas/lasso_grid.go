package main

import (
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"math"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/cmd/hiveblas/internal/job"
	"github.com/hiveblas/hiveblas/internal/cli"
	"github.com/hiveblas/hiveblas/matrix"
)

// maxPixels bounds the pictures of --grid.
const maxPixels = 1 << 28

// channels is a picture as levels from 0 to 255.
type channels struct {
	width, height int
	grey, deep    bool      // one channel; 16 bits
	level         []float64 // of each pixel and channel
	alpha         []uint16  // of each pixel, nil if all are opaque
}

func (c *channels) count() int {
	if c.grey {
		return 1
	}
	return 3
}

// channelsOf returns the levels of a picture. Colours are not premultiplied by alpha.
func channelsOf(img image.Image) *channels {
	r := img.Bounds()
	c := &channels{width: r.Dx(), height: r.Dy()}
	switch img.(type) {
	case *image.Gray:
		c.grey = true
	case *image.Gray16:
		c.grey, c.deep = true, true
	case *image.RGBA64, *image.NRGBA64:
		c.deep = true
	}
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			p := color.NRGBA64Model.Convert(img.At(x, y)).(color.NRGBA64)
			c.level = append(c.level, float64(p.R)/257)
			if !c.grey {
				c.level = append(c.level, float64(p.G)/257, float64(p.B)/257)
			}
			c.alpha = append(c.alpha, p.A)
		}
	}
	return c
}

// picture returns a picture of levels, which are rounded and clipped to what it can hold.
func (c *channels) picture() image.Image {
	at := func(x float64) uint16 { return uint16(math.Round(min(max(x, 0), 255) * 257)) }
	small := func(x float64) uint8 { return uint8(math.Round(min(max(x, 0), 255))) }
	r := image.Rect(0, 0, c.width, c.height)
	switch {
	case c.grey && c.deep:
		img := image.NewGray16(r)
		for k, x := range c.level {
			img.SetGray16(k%c.width, k/c.width, color.Gray16{Y: at(x)})
		}
		return img
	case c.grey:
		img := image.NewGray(r)
		for k, x := range c.level {
			img.SetGray(k%c.width, k/c.width, color.Gray{Y: small(x)})
		}
		return img
	case c.deep:
		img := image.NewNRGBA64(r)
		for k, a := range c.alpha {
			p := c.level[3*k:]
			img.SetNRGBA64(k%c.width, k/c.width, color.NRGBA64{R: at(p[0]), G: at(p[1]), B: at(p[2]), A: a})
		}
		return img
	}
	img := image.NewNRGBA(r)
	for k, a := range c.alpha {
		p := c.level[3*k:]
		img.SetNRGBA(k%c.width, k/c.width, color.NRGBA{R: small(p[0]), G: small(p[1]), B: small(p[2]), A: uint8(a >> 8)})
	}
	return img
}

// gridGraph returns the graph of a grid of pixels, an edge for each pair of neighbours.
func gridGraph(width, height int) (*matrix.Matrix[float64], error) {
	n := width * height
	ptr, idx := make([]int64, 1, n+1), make([]int32, 0, 2*n)
	for v := range n {
		if v%width+1 < width {
			idx = append(idx, int32(v+1))
		}
		if v+width < n {
			idx = append(idx, int32(v+width))
		}
		ptr = append(ptr, int64(len(idx)))
	}
	val := make([]float64, len(idx))
	for k := range val {
		val[k] = 1
	}
	return matrix.FromCSR(n, n, ptr, idx, val)
}

// denoise is lasso of a picture.
func denoise(j *job.Job, file string, o apps.FusedLassoOptions) error {
	var c *channels
	err := j.Stage("read", func() error {
		in, err := j.OpenInput(file)
		if err != nil {
			return job.Explain(job.NameOf(file), err)
		}
		defer in.Close()
		img, err := png.Decode(in.R)
		if err != nil {
			return cli.Fail(job.NameOf(file), "no picture that can be read: "+err.Error(), "give a .png", err)
		}
		r := img.Bounds()
		if n := int64(r.Dx()) * int64(r.Dy()); n == 0 || n > maxPixels {
			return cli.Fail(job.NameOf(file), fmt.Sprintf("the picture has %d pixels", n), fmt.Sprintf("give one of 1 to %d", maxPixels), nil)
		}
		c = channelsOf(img)
		g, err := gridGraph(c.width, c.height)
		j.Graph = &job.Graph{Matrix: g, File: job.NameOf(file)}
		return err
	})
	if err != nil {
		return err
	}
	var found []*apps.FusedLassoResult
	err = j.Compute(func(run apps.Run) error {
		o.Run = run
		ys, err := matrix.FromDense(c.width*c.height, c.count(), c.level)
		if err != nil {
			return err
		}
		if found, err = apps.FusedLassoBatch(j.Graph.Matrix, ys, o); err != nil {
			return err
		}
		return solutionsToHost(found)
	})
	if err != nil {
		return err
	}
	sum := &apps.FusedLassoResult{Lambda1: o.Lambda1, Proven: true}
	level := make([]float64, len(c.level))
	for k, r := range found {
		for v, x := range r.B.All() {
			level[v*len(found)+k] = x
		}
		sum.Objective += r.Objective
		sum.Gap = max(sum.Gap, r.Gap)
		sum.Regions, sum.Zeros, sum.Divided = sum.Regions+r.Regions, sum.Zeros+r.Zeros, sum.Divided+r.Divided
		sum.Proven, sum.Iterations = sum.Proven && r.Proven, max(sum.Iterations, r.Iterations)
	}
	c.level = level
	err = j.Writing(func() error {
		return j.Stream(func(w io.Writer) error { return png.Encode(w, c.picture()) })
	})
	if err != nil {
		return err
	}
	figures := append(lassoFigures([]*apps.FusedLassoResult{sum}), job.Field{Key: "channels", Label: "channels", Value: len(found)})
	return j.Report(figures, nil)
}
