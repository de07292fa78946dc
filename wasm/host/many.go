package host

import (
	"context"
	"encoding/binary"
	"errors"
)

const (
	// reportsFlag puts the report before each result.
	reportsFlag = 4
	// reportPrefix is the size of the two lengths and the report before a result.
	reportPrefix = 4 + 4 + 4*reportLen
	// manyBytes is how much of the input buffer one call fills, unless a single
	// address is longer. The results of so many are about twenty times as long, and
	// are still in a processor's cache when they are read.
	manyBytes = 16 << 10
)

// errNoProgress is a defect: a call with addresses checked none.
var errNoProgress = errors.New("the module checked none of the addresses")

// CheckMany checks emails with as few calls of the module as it can, and calls each
// with the index of every one and its result, in order. The slices of Facts are in
// the memory of the module: Keep what you need after each returns. An address over
// 1 MiB makes it return ErrTooLong, after the results before that address.
func (v *View) CheckMany(ctx context.Context, emails []string, flags Flags, each func(n int, facts Facts)) error {
	return v.pool.lend(ctx, nil, func(i *instance) error { return i.checkMany(ctx, emails, flags, each) })
}

// checkMany checks emails, as many at a time as fill a part of the input buffer.
func (i *instance) checkMany(ctx context.Context, emails []string, flags Flags, each func(n int, facts Facts)) error {
	if flags&reportsFlag != 0 { // the caller's flags are those of Check
		return ErrFlags
	}
	for n := 0; n < len(emails); {
		if err := ctx.Err(); err != nil {
			return err
		}
		size, count, err := i.fill(emails[n:])
		if err != nil {
			return err
		}
		if count == 0 { // too long for a prefix
			var f Facts
			f, err = i.checkAddress(ctx, nil, emails[n], flags)
			if err == nil {
				each(n, f)
				n++
			}
		} else {
			err = i.checkFilled(ctx, size, count, flags, func(f Facts) { each(n, f); n++ })
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// fill writes addresses, each after its length, to the input buffer, and returns how
// many bytes and addresses. It returns 0 if the first does not fit.
func (i *instance) fill(emails []string) (size, count int, err error) {
	in, ok := i.module.Memory().Read(i.in, i.inCap)
	if !ok {
		return 0, 0, &trap{errors.New("the input buffer is outside the memory")}
	}
	for n, email := range emails {
		end := size + 4 + len(email)
		if end > len(in) || size > 0 && end > manyBytes {
			break
		}
		binary.LittleEndian.PutUint32(in[size:], uint32(len(email)))
		copy(in[size+4:], email)
		size, count = end, n+1
	}
	return size, count, nil
}

// checkFilled checks the count addresses in the first size bytes of the input buffer, or
// as many of them as the results fit.
func (i *instance) checkFilled(ctx context.Context, size, count int, flags Flags, each func(Facts)) error {
	n, err := i.call(ctx, i.many, uint64(size), uint64(flags)|reportsFlag)
	if err != nil {
		return err
	}
	results, ok := i.module.Memory().Read(i.out, n)
	if !ok || n > i.outCap {
		return &trap{errors.New("the results are outside the memory")}
	}
	if n == 0 {
		return &trap{errNoProgress}
	}
	for ; len(results) > 0; count-- {
		if count == 0 {
			return &trap{errors.New("there are more results than addresses")}
		}
		f, length, err := readRecord(results)
		if err != nil {
			return err
		}
		each(f)
		results = results[length:]
	}
	return nil
}

// readRecord returns the Facts of the first record in results, and its length.
func readRecord(results []byte) (f Facts, length int, err error) {
	if len(results) < reportPrefix {
		return f, 0, &trap{errors.New("a report is cut off")}
	}
	json, texts := binary.LittleEndian.Uint32(results), binary.LittleEndian.Uint32(results[4:])
	if uint64(reportPrefix)+uint64(json)+uint64(texts) > uint64(len(results)) {
		return f, 0, &trap{errors.New("a result is cut off")}
	}
	words, record := readWords(results[8:]), results[reportPrefix:][:json+texts]
	f, err = factsIn(record, json, &words)
	return f, reportPrefix + len(record), err
}
