package matrix

import (
	"archive/zip"
	"fmt"
	"io"
	"slices"

	"github.com/hiveblas/hiveblas/internal/fresh"
	"github.com/hiveblas/hiveblas/internal/npy"
	"github.com/hiveblas/hiveblas/internal/parallel"
)

// npzArray is an array of a file, at its first item.
type npzArray struct {
	*npy.Stream
	name string
	file *zip.File
	r    io.ReadCloser
	head int64 // bytes before the items
}

// counted counts the bytes read.
type counted struct {
	io.ReadCloser
	n int64
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	c.n += int64(n)
	return n, err
}

// array opens an array. The caller closes its r.
func (rd *npzReader[T]) array(name string) (*npzArray, error) {
	f := rd.files[name]
	if f == nil {
		return nil, rd.o.fail(0, "the file has no array "+name, "write the matrix with scipy.sparse.save_npz")
	}
	r, err := f.Open()
	if err != nil {
		return nil, rd.o.damagedArray("array "+name, err)
	}
	c := &counted{ReadCloser: r}
	s, err := npy.Open(c)
	if err != nil {
		r.Close()
		return nil, rd.o.damagedArray("array "+name, err)
	}
	return &npzArray{s, name, f, c, c.n}, nil
}

// npzLoad reads the items of an array.
type npzLoad struct {
	a    *npzArray
	read func() error
	err  error // of opening or reading it
}

// load reads arrays and returns the first error in their order. All threads read an array that is
// not compressed; a thread inflates each of the others.
func (rd *npzReader[T]) load(list ...*npzLoad) error {
	var inflated []*npzLoad
	for _, l := range list {
		if l.a != nil {
			defer l.a.r.Close() // read errors are reported
		}
		if l.err == nil && rd.place(l.a) < 0 {
			inflated = append(inflated, l)
		}
	}
	_ = parallel.Pieces(nil, rd.o.threads, len(inflated), func(_, k int) { inflated[k].err = inflated[k].read() })
	for _, l := range list {
		if l.err == nil && !slices.Contains(inflated, l) {
			l.err = l.read()
		}
		if l.err != nil {
			return l.err
		}
	}
	return nil
}

// place returns the position in the file of the items of an array that is not compressed and whose
// items are all of its bytes after the header, else −1.
func (rd *npzReader[T]) place(a *npzArray) int64 {
	f := a.file
	bytes := int64(a.Len()) * int64(a.Width)
	at, err := f.DataOffset()
	if err != nil || rd.o.piece == serially || f.Method != zip.Store || f.CompressedSize64 != f.UncompressedSize64 ||
		int64(a.Len()) > rd.plain.size/int64(a.Width) || f.CompressedSize64 != uint64(a.head+bytes) || at > rd.plain.size-a.head-bytes {
		return -1
	}
	return at + a.head
}

// npzConvert makes items of their bytes, which may be their memory; at is the number of the first.
// It runs concurrently; thread is below the number of threads.
type npzConvert[E comparable] func(thread int, items []E, b []byte, at int64) error

// npzItems reads the items of an array and verifies its checksum.
func npzItems[E, T comparable](rd *npzReader[T], a *npzArray, convert npzConvert[E]) ([]E, error) {
	from := rd.place(a)
	if from < 0 {
		return npzInflate(rd, a, convert)
	}
	failed := func(err error) error { return rd.o.damagedArray("array "+a.name, err) }
	n, w := int64(a.Len()), int64(a.Width)
	head := make([]byte, a.head)
	if n, err := rd.plain.at.ReadAt(head, from-a.head); n < len(head) {
		return nil, failed(err)
	}
	items := fresh.Make[E](n)
	sum, err := rd.plain.readPieces(rd.o, filePieces{from: from, bytes: n * w, width: w, mem: rawBytes(items), sum: polynomialIEEE,
		done: func(thread int, b []byte, lo int64) error {
			return convert(thread, items[lo/w:(lo+int64(len(b)))/w], b, lo/w)
		},
		failed: failed,
	})
	if err != nil {
		return nil, err
	}
	if a.file.CRC32 != 0 && a.file.CRC32 != polynomialIEEE.join(polynomialIEEE.of(head), sum, n*w) {
		return nil, failed(zip.ErrChecksum)
	}
	return items, nil
}

// npzInflate is npzItems for an array that one thread reads in order. Memory grows with the items
// read.
func npzInflate[E, T comparable](rd *npzReader[T], a *npzArray, convert npzConvert[E]) ([]E, error) {
	items := []E{}
	for n := int64(a.Len()); a.Len() > 0; {
		if err := rd.o.stopped(); err != nil {
			return nil, err
		}
		b, err := a.Next(npyPart)
		if err != nil {
			return nil, rd.o.damagedArray("array "+a.name, err)
		}
		have, take := len(items), len(b)/a.Width
		if have+take > cap(items) {
			grown := fresh.Make[E](min(n, max(2*int64(have), int64(have+take))))[:have]
			copy(grown, items)
			items = grown
		}
		items = items[:have+take]
		if err := convert(0, items[have:], b, int64(have)); err != nil {
			return nil, err
		}
	}
	if _, err := io.Copy(io.Discard, a.r); err != nil { // the checksum is verified at the end
		return nil, rd.o.damagedArray("array "+a.name, err)
	}
	return items, nil
}

// npzInts reads an array of integers from 0 below limit, which N holds, into items.
func npzInts[N int32 | int64, T comparable](rd *npzReader[T], name string, limit int64, items *[]N) *npzLoad {
	a, err := rd.array(name)
	l := &npzLoad{a: a, err: err}
	if err != nil {
		return l
	}
	if len(a.Shape) != 1 {
		l.err = rd.o.fail(0, fmt.Sprintf("array %s has %d dimensions, want 1", name, len(a.Shape)), "")
		return l
	}
	if err := a.Integers(); err != nil {
		l.err = rd.o.damagedArray("array "+name, err)
		return l
	}
	e, _ := elementOf[N]()
	direct := hostLittle && a.Little() && a.Kind == 'i' && a.Width*8 == e.bits()
	scratch := make([][]int64, parallel.Threads(rd.o.threads))
	l.read = func() (err error) {
		*items, err = npzItems(rd, a, func(thread int, items []N, b []byte, at int64) error {
			if direct {
				copy(rawBytes(items), b)
				if !slices.ContainsFunc(items, func(x N) bool { return x < 0 || int64(x) >= limit }) {
					return nil
				}
			}
			for part := range slices.Chunk(items, npyPart) {
				ints := room(&scratch[thread], len(part))
				a.DecodeInts(ints, b)
				for k, x := range ints {
					if x < 0 || x >= limit {
						e := rd.o.fail(0, fmt.Sprintf("item %d of array %s is %d, want 0 to %d", at+int64(k), name, x, limit-1), "")
						e.Err = &IndexError{"ReadNPZ", name, x, limit}
						return e
					}
					part[k] = N(x)
				}
				b, at = b[len(part)*a.Width:], at+int64(len(part))
			}
			return nil
		})
		return err
	}
	return l
}

// values reads the values of the entries that another array counts, into val. field returns the
// kind of the array.
func (rd *npzReader[T]) values(entries *npzLoad, val *[]T) (l *npzLoad, field func([]T) string) {
	a, err := rd.array("data")
	if l = (&npzLoad{a: a, err: err}); entries.err != nil { // which comes first
		l.err = entries.err
	}
	if l.err != nil {
		return l, nil
	}
	if n := entries.a.Len(); len(a.Shape) != 1 || a.Len() != n || a.Kind == 'U' || a.Kind == 'S' {
		l.err = rd.o.fail(0, fmt.Sprintf("array data has %d items in %d dimensions, want a number for each of the %d entries", a.Len(), len(a.Shape), n), "")
	}
	c := newNPYConverter(a.Stream, rd.e, rd.o, "array data")
	l.read = func() (err error) {
		*val, err = npzItems(rd, a, c.convert)
		return err
	}
	return l, func(val []T) string {
		field := npyField(a.Stream)
		if field == "pattern" && !allOf(val, rd.e.one, rd.o.threads) {
			field = "integer"
		}
		return field
	}
}
