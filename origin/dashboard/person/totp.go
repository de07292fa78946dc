package person

import (
	"fmt"
	"image/color"
	"regexp"
	"strings"

	"github.com/boombuler/barcode/qr" // of the module that the OTP library uses; ISO/IEC 18004

	"github.com/addrspec/addrspec/origin/dashboard/page"
	"github.com/addrspec/addrspec/origin/identity"
)

// TOTPView is the page that sets up an authenticator app.
type TOTPView struct {
	Secret string  `json:"secret,omitempty"`
	URL    string  `json:"url,omitempty"`
	QR     *qrCode `json:"-"`
}

// SpacedSecret returns the secret in groups, for people who type it.
func (t TOTPView) SpacedSecret() string {
	return strings.TrimSpace(four.ReplaceAllString(t.Secret, "$0 "))
}

var four = regexp.MustCompile(".{4}")

// totpPage shows a new secret. The form brings it back, so nothing is stored
// before a code shows that the app has it; after a wrong code it is the same.
func totpPage(v *page.Visit) (any, error) {
	secret, url, err := identity.NewTOTP(v.User.Email, v.Form.Get("secret"))
	if err != nil {
		return nil, err
	}
	qr, err := newQRCode(url)
	return TOTPView{Secret: secret, URL: url, QR: qr}, err
}

// setTOTP leads to the page that shows the recovery codes.
func setTOTP(v *page.Visit) (*page.Outcome, error) {
	codes, err := v.Identity.SetTOTP(v.Context(), *v.User, v.Form.Get("secret"), v.Form.Get("code"))
	if err != nil {
		return nil, err
	}
	rememberAgain(v)
	return showCodes(v, "totp-set", codes)
}

func removeTOTP(v *page.Visit) (*page.Outcome, error) {
	if err := v.Identity.RemoveTOTP(v.Context(), *v.User); err != nil {
		return nil, err
	}
	rememberAgain(v)
	return page.Redirect("/dashboard/settings", "totp-removed"), nil
}

// recoveryView is the page of recovery codes.
type recoveryView struct {
	Left  int      `json:"left"`
	Codes []string `json:"recovery_codes,omitempty"`
}

const recoveryPath = "/dashboard/settings/recovery-codes"

func recoveryPage(v *page.Visit) (any, error) {
	left, err := v.Identity.RecoveryCodesLeft(v.Context(), v.User.Account)
	if err != nil { // the codes are shown when the page is loaded again
		return nil, err
	}
	return recoveryView{left, v.ShownOnce()}, nil
}

func renewRecovery(v *page.Visit) (*page.Outcome, error) {
	codes, err := v.Identity.RenewRecoveryCodes(v.Context(), *v.User)
	if err != nil {
		return nil, err
	}
	return showCodes(v, "", codes)
}

// showCodes leads to the page that shows new recovery codes.
func showCodes(v *page.Visit, done string, codes []string) (*page.Outcome, error) {
	data := func() (any, error) { return recoveryView{len(codes), codes}, nil }
	return v.ShowOnce(page.Redirect(recoveryPath, done), data, codes...)
}

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
	dark := func(x, y int) bool { return color.GrayModel.Convert(code.At(x, y)).(color.Gray).Y < 128 }
	for y := range size {
		for x := 0; x < size; x++ {
			run := 0 // dark modules that follow each other
			for x+run < size && dark(x+run, y) {
				run++
			}
			if run > 0 {
				fmt.Fprintf(&path, "M%d %dh%dv1h-%dz", x+quietZone, y+quietZone, run, run)
				x += run
			}
		}
	}
	return &qrCode{size + 2*quietZone, path.String()}, nil
}
