package numpy

import (
	"archive/zip"
	"fmt"
	"io"
	"slices"

	"github.com/hiveblas/hiveblas/internal/hgb"
	"github.com/hiveblas/hiveblas/internal/npy"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/internal/pieces"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
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
func (rd *npzReader) array(name string) (*npzArray, error) {
	f := rd.files[name]
	if f == nil {
		return nil, rd.O.Fail(0, "the file has no array "+name, "write the matrix with scipy.sparse.save_npz")
	}
	r, err := f.Open()
	if err != nil {
		return nil, damagedArray(rd.O, "array "+name, err)
	}
	c := &counted{ReadCloser: r}
	s, err := npy.Open(c)
	if err != nil {
		r.Close()
		return nil, damagedArray(rd.O, "array "+name, err)
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
func (rd *npzReader) load(list ...*npzLoad) error {
	var inflated []*npzLoad
	for _, l := range list {
		if l.a != nil {
			defer l.a.r.Close() // read errors are reported
		}
		if l.err == nil && rd.place(l.a) < 0 {
			inflated = append(inflated, l)
		}
	}
	_ = parallel.Pieces(nil, rd.O.Threads, len(inflated), func(_, k int) { inflated[k].err = inflated[k].read() })
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

// place returns the position in the file of the items of an array that is not compressed and has
// nothing but items after its header, else −1.
func (rd *npzReader) place(a *npzArray) int64 {
	f := a.file
	bytes := int64(a.Len()) * int64(a.Width)
	at, err := f.DataOffset()
	if err != nil || rd.O.Piece == pieces.Serially || f.Method != zip.Store || f.CompressedSize64 != f.UncompressedSize64 ||
		int64(a.Len()) > rd.plain.Size/int64(a.Width) || f.CompressedSize64 != uint64(a.head+bytes) || at > rd.plain.Size-a.head-bytes {
		return -1
	}
	return at + a.head
}

// npzConvert makes items of their bytes, which may be their memory; at is the number of the first.
// It runs concurrently; thread is below the number of threads.
type npzConvert func(thread int, items sparse.Values, b []byte, at int64) error

// items reads the items of an array into values of a type, and verifies its checksum.
func (rd *npzReader) items(a *npzArray, t *sparse.Type, convert npzConvert) (items sparse.Values, err error) {
	from := rd.place(a)
	if from < 0 {
		return rd.inflate(a, t, convert)
	}
	failed := func(err error) error { return damagedArray(rd.O, "array "+a.name, err) }
	n, w := int64(a.Len()), int64(a.Width)
	head := make([]byte, a.head)
	if n, err := rd.plain.At.ReadAt(head, from-a.head); n < len(head) {
		return items, failed(err)
	}
	items = t.Make(n)
	sum, err := rd.plain.Read(pieces.Read{Context: rd.O.Ctx, Threads: rd.O.Threads, Piece: rd.O.Piece,
		From: from, Bytes: n * w, Width: w, Memory: hgb.Bytes(t, items), Sum: pieces.CRC32,
		Done: func(thread int, b []byte, lo int64) error {
			return convert(thread, t.Slice(items, lo/w, (lo+int64(len(b)))/w), b, lo/w)
		},
		Failed: failed,
	})
	if err != nil {
		return items, err
	}
	if a.file.CRC32 != 0 && a.file.CRC32 != pieces.CRC32.Join(pieces.CRC32.Of(head), sum, n*w) {
		return items, failed(zip.ErrChecksum)
	}
	return items, nil
}

// inflate is items for an array that one thread reads in order. Memory grows with the items read.
func (rd *npzReader) inflate(a *npzArray, t *sparse.Type, convert npzConvert) (items sparse.Values, err error) {
	items = t.Make(0)
	have, n := int64(0), int64(a.Len())
	for a.Len() > 0 {
		if err := rd.O.Stopped(); err != nil {
			return items, err
		}
		b, err := a.Next(npyPart)
		if err != nil {
			return items, damagedArray(rd.O, "array "+a.name, err)
		}
		take := int64(len(b) / a.Width)
		if have+take > int64(items.Len()) {
			larger := t.Make(min(n, max(2*have, have+take)))
			t.Copy(larger, t.Slice(items, 0, have))
			items = larger
		}
		if err := convert(0, t.Slice(items, have, have+take), b, have); err != nil {
			return items, err
		}
		have += take
	}
	if _, err := io.Copy(io.Discard, a.r); err != nil { // the checksum is verified at the end
		return items, damagedArray(rd.O, "array "+a.name, err)
	}
	return t.Slice(items, 0, have), nil
}

// npzInts reads an array of integers from 0 below limit, which N holds, into items.
func npzInts[N int32 | int64](rd *npzReader, name string, limit int64, items *[]N) *npzLoad {
	a, err := rd.array(name)
	l := &npzLoad{a: a, err: err}
	if err != nil {
		return l
	}
	if len(a.Shape) != 1 {
		l.err = rd.O.Fail(0, fmt.Sprintf("array %s has %d dimensions, want 1", name, len(a.Shape)), "")
		return l
	}
	if err := a.Integers(); err != nil {
		l.err = damagedArray(rd.O, "array "+name, err)
		return l
	}
	t := sparse.TypeOf[N]()
	direct := hgb.HostLittle && a.Little() && a.Kind == 'i' && int64(a.Width) == t.Size
	scratch := make([][]int64, parallel.Threads(rd.O.Threads))
	l.read = func() error {
		all, err := rd.items(a, t, func(thread int, vals sparse.Values, b []byte, at int64) error {
			items := sparse.SliceOf[N](vals)
			if direct {
				copy(hgb.Bytes(t, vals), b)
				if !slices.ContainsFunc(items, func(x N) bool { return x < 0 || int64(x) >= limit }) {
					return nil
				}
			}
			for part := range slices.Chunk(items, npyPart) {
				ints := grown(&scratch[thread], len(part))
				a.DecodeInts(ints, b)
				for k, x := range ints {
					if x < 0 || x >= limit {
						e := rd.O.Fail(0, fmt.Sprintf("item %d of array %s is %d, want 0 to %d", at+int64(k), name, x, limit-1), "")
						e.Err = &matrix.IndexError{Op: "ReadNPZ", Arg: name, Index: x, Limit: limit}
						return e
					}
					part[k] = N(x)
				}
				b, at = b[len(part)*a.Width:], at+int64(len(part))
			}
			return nil
		})
		*items = sparse.SliceOf[N](all)
		return err
	}
	return l
}

// values reads the values of the entries that another array counts, into val. field returns the
// kind of the array.
func (rd *npzReader) values(entries *npzLoad, val *sparse.Values) (l *npzLoad, field func(sparse.Values) string) {
	a, err := rd.array("data")
	if l = (&npzLoad{a: a, err: err}); entries.err != nil { // which comes first
		l.err = entries.err
	}
	if l.err != nil {
		return l, nil
	}
	if n := entries.a.Len(); len(a.Shape) != 1 || a.Len() != n || a.Kind == 'U' || a.Kind == 'S' {
		l.err = rd.O.Fail(0, fmt.Sprintf("array data has %d items in %d dimensions, want a number for each of the %d entries", a.Len(), len(a.Shape), n), "")
	}
	c := newNPYConverter(a.Stream, rd.O, "array data")
	l.read = func() (err error) {
		*val, err = rd.items(a, rd.E.T, c.convert)
		return err
	}
	return l, func(val sparse.Values) string {
		field := npyField(a.Stream)
		if field == "pattern" && !rd.E.AllOnes(val) {
			field = "integer"
		}
		return field
	}
}
