package dashboard

import (
	"fmt"
	"image/color"
	"strings"

	"github.com/boombuler/barcode"    // the module that the OTP library uses for QR codes
	"github.com/boombuler/barcode/qr" // ISO/IEC 18004
)

// A qrCode is a QR code as the path of an SVG: an image of our own, since the page
// must not send the secret to a service that draws it.
type qrCode struct {
	Size int // of the view box, with the quiet zone
	Path string
}

// quietZone is the margin around a QR code, in modules (ISO/IEC 18004 section 6.3.8).
const quietZone = 4

func newQRCode(text string) (*qrCode, error) {
	code, err := qr.Encode(text, qr.M, qr.Auto)
	if err != nil {
		return nil, err
	}
	var path strings.Builder
	size := code.Bounds().Dx()
	for y := range size {
		for x := 0; x < size; x++ {
			if run := darkRun(code, x, y, size); run > 0 {
				fmt.Fprintf(&path, "M%d %dh%dv1h-%dz", x+quietZone, y+quietZone, run, run)
				x += run
			}
		}
	}
	return &qrCode{size + 2*quietZone, path.String()}, nil
}

// darkRun returns how many dark modules follow each other in a row.
func darkRun(code barcode.Barcode, x, y, size int) (run int) {
	for x+run < size && color.GrayModel.Convert(code.At(x+run, y)).(color.Gray).Y < 128 {
		run++
	}
	return run
}
