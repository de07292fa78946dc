package host

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// MaxEmail is the capacity of the module's input buffer in bytes (ABI.md).
const MaxEmail = 1 << 20

// ErrTooLong is returned for an address of more than MaxEmail bytes.
var ErrTooLong = errors.New("the address is longer than 1 MiB")

// ErrFlags is returned for flags that the module's interface does not define.
var ErrFlags = errors.New("the module does not know these flags")

// Error results of exports (ABI.md). Any other negative result is a defect of the
// module or of this package.
const (
	codeTooLong   = -1
	codeFlags     = -2
	codeRefused   = -4
	codeListsSize = -5
	codePolicy    = -7
	codeEvicted   = -8
)

// instance is an instance of the module. It serves one caller at a time.
type instance struct {
	module              api.Module
	check, many         api.Function
	exchanges           api.Function
	policy, decision    api.Function
	handles             map[[sha256.Size]byte]uint32 // of policies, by their hashes
	info, lists         api.Function
	in, inCap           uint32
	out, outCap, report uint32
	stack               [2]uint64 // parameters and results; saves an allocation per call
}

// instantiate starts an instance with blob as its lists; nil means the module's
// own. It returns an error if the interface version is not supported.
func (p *program) instantiate(ctx context.Context, blob []byte) (*instance, error) {
	config := wazero.NewModuleConfig().WithName("").WithStartFunctions().WithSysWalltime().WithSysNanotime()
	module, err := p.runtime.InstantiateModule(ctx, p.compiled, config)
	if err != nil {
		return nil, fmt.Errorf("start the module: %w", err)
	}
	i := &instance{module: module, handles: map[[sha256.Size]byte]uint32{}}
	err = i.bind(ctx)
	if err == nil && blob != nil {
		_, err = i.pass(ctx, i.lists, string(blob))
	}
	if err != nil {
		module.Close(ctx)
		return nil, err
	}
	return i, nil
}

// bind starts the module, looks up its exports and reads the addresses and sizes of the buffers.
func (i *instance) bind(ctx context.Context) error {
	if f := i.fn("_initialize"); f != nil { // Go's initialization, which only the plain module still needs
		if _, err := f.Call(ctx); err != nil {
			return fmt.Errorf("start the module: %w", err)
		}
	}
	version, err := i.get(ctx, "addrspec_abi_version")
	if err != nil {
		return err
	}
	if version>>16 != abiMajor {
		return fmt.Errorf("the module has interface version %d.%d, this host supports %d; use both from one build",
			version>>16, version&0xffff, abiMajor)
	}
	i.check, i.many = i.fn("addrspec_check"), i.fn("addrspec_check_many")
	i.exchanges = i.fn("addrspec_exchanges")
	i.policy, i.decision = i.fn("addrspec_load_policy"), i.fn("addrspec_decide")
	i.info, i.lists = i.fn("addrspec_info"), i.fn("addrspec_lists")
	for name, place := range map[string]*uint32{
		"addrspec_in_ptr": &i.in, "addrspec_in_cap": &i.inCap,
		"addrspec_out_ptr": &i.out, "addrspec_out_cap": &i.outCap, "addrspec_report_ptr": &i.report,
	} {
		*place, err = i.get(ctx, name)
		if err != nil {
			return err
		}
	}
	return nil
}

func (i *instance) fn(name string) api.Function { return i.module.ExportedFunction(name) }

// get calls an export without parameters.
func (i *instance) get(ctx context.Context, name string) (uint32, error) {
	result, err := i.fn(name).Call(ctx)
	if err != nil {
		return 0, fmt.Errorf("call %s: %w", name, err)
	}
	return uint32(result[0]), nil
}

// call calls f and converts a negative result to an error.
func (i *instance) call(ctx context.Context, f api.Function, params ...uint64) (uint32, error) {
	copy(i.stack[:], params)
	if err := f.CallWithStack(ctx, i.stack[:]); err != nil {
		return 0, &trap{err}
	}
	switch n := int32(i.stack[0]); {
	case n >= 0:
		return uint32(n), nil
	case n == codeTooLong:
		return 0, ErrTooLong
	case n == codeFlags:
		return 0, ErrFlags
	case n == codeRefused || n == codePolicy:
		text, offset, err := i.sentence()
		if err != nil {
			return 0, err
		}
		if n == codeRefused {
			return 0, fmt.Errorf("%w: %s", ErrLists, text)
		}
		place, _, _ := strings.Cut(text, ": ")
		return 0, &PolicyError{place, offset, text}
	case n == codeListsSize:
		return 0, ErrListsSize
	case n == codeEvicted:
		return 0, errEvicted
	default:
		return 0, &trap{fmt.Errorf("the result is %d", n)}
	}
}

// write copies s to the input buffer.
func (i *instance) write(s string) error {
	if len(s) > int(i.inCap) {
		return ErrTooLong
	}
	if !i.module.Memory().WriteString(i.in, s) {
		return &trap{errors.New("the input buffer is outside the memory")}
	}
	return nil
}

// reportWords returns the words of the report.
func (i *instance) reportWords() ([reportLen]uint32, error) {
	view, ok := i.module.Memory().Read(i.report, reportLen*4)
	if !ok {
		return [reportLen]uint32{}, &trap{errors.New("the report is outside the memory")}
	}
	return readWords(view), nil
}

func readWords(view []byte) (words [reportLen]uint32) {
	for n := range words {
		words[n] = binary.LittleEndian.Uint32(view[4*n:])
	}
	return words
}

// trap is an error after which the instance must be discarded.
type trap struct{ cause error }

func (t *trap) Error() string { return "the module failed: " + t.cause.Error() }
func (t *trap) Unwrap() error { return t.cause }

// ErrLists is returned for a blob that the module refused. The error that wraps
// it contains the reason.
var ErrLists = errors.New("the module refused the lists")

// ErrListsSize is returned for a blob over 4 MiB.
var ErrListsSize = errors.New("the lists are larger than 4 MiB")

// pass passes a blob or a document to f, in pieces of the input buffer's size and an empty one
// at the end, and returns what f returns then.
func (i *instance) pass(ctx context.Context, f api.Function, document string) (uint32, error) {
	for len(document) > 0 {
		piece := document[:min(len(document), int(i.inCap))]
		if err := i.write(piece); err != nil {
			return 0, err
		}
		if _, err := i.call(ctx, f, uint64(len(piece))); err != nil {
			return 0, err
		}
		document = document[len(piece):]
	}
	return i.call(ctx, f, 0)
}

// sentence returns the sentence and the offset of the report, of what the module refused.
func (i *instance) sentence() (text string, offset int, err error) {
	words, err := i.reportWords()
	if err != nil {
		return "", 0, err
	}
	at, length := words[wordSentence], words[wordSentence+1]
	why, ok := i.module.Memory().Read(i.out+at, length)
	if !ok || uint64(at)+uint64(length) > uint64(i.outCap) {
		return "", 0, &trap{errors.New("the report does not fit the output")}
	}
	return string(why), int(words[wordOffset]), nil
}
