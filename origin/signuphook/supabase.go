package signuphook

import "net/http"

// supabase is the Auth hook "Before User Created" of Supabase
// (supabase.com/docs/guides/auth/auth-hooks/before-user-created-hook).
//
// A sign-up is denied by 200 with an error object. Supabase Auth turns any other
// status into an error 500 for the user, whatever the body says (supabase/auth,
// internal/hooks/hookshttp; issue 2235 there).
//
// Supabase Auth sends a new webhook-id for each attempt at the same sign-up, but the
// same body, whose metadata.uuid identifies it.
type supabase struct{}

const beforeUserCreated = "before-user-created"

type supabaseRequest struct {
	Metadata struct {
		UUID string `json:"uuid"`
		Name string `json:"name"`
	} `json:"metadata"`
	User *struct {
		Email    string `json:"email"`
		Metadata struct {
			Language any `json:"language"`
			Locale   any `json:"locale"`
		} `json:"user_metadata"`
	} `json:"user"`
}

type supabaseDenial struct {
	Error struct {
		Code    int    `json:"http_code"`
		Message string `json:"message"`
	} `json:"error"`
}

func (supabase) read(body []byte, id string) (Call, string) {
	var r supabaseRequest
	if !decode(body, &r) || r.User == nil || r.Metadata.Name != beforeUserCreated {
		return Call{}, `The body is not that of the Supabase Auth hook "Before User Created": select this hook in Supabase, or another format for it in the file of --hooks.`
	}
	c := Call{ID: id, Email: r.User.Email}
	if validID(r.Metadata.UUID) {
		c.ID = r.Metadata.UUID
	}
	// The two names that client code uses; users write this object themselves.
	for _, asked := range []any{r.User.Metadata.Language, r.User.Metadata.Locale} {
		if text, _ := asked.(string); text != "" && c.language == "" {
			c.language = text
		}
	}
	return c, ""
}

func (supabase) answer(v *Verdict, message string) []byte {
	if v.Decision == Allow {
		return []byte("{}")
	}
	var d supabaseDenial
	d.Error.Code, d.Error.Message = http.StatusForbidden, message
	return encode(d)
}
