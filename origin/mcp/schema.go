package mcp

import "github.com/google/jsonschema-go/jsonschema"

// emailsSchema returns the schema of emailsInput with the limits of its array.
func emailsSchema() *jsonschema.Schema {
	schema := schemaOf[emailsInput]()
	emails := schema.Properties["emails"]
	emails.Type, emails.Types = "array", nil // not null
	emails.MinItems, emails.MaxItems = jsonschema.Ptr(1), jsonschema.Ptr(maxAddresses)
	return schema
}

// batchSchema returns the schema of batch.
func batchSchema() *jsonschema.Schema {
	schema := schemaOf[batch]()
	shorten(schema.Properties["results"].Items.Properties["result"])
	return schema
}

// explanationSchema returns the schema of explanation.
func explanationSchema() *jsonschema.Schema {
	schema := schemaOf[explanation]()
	shorten(schema.Properties["result"])
	return schema
}

// shorten replaces the descriptions of facts, which an assistant reads with
// check_email: all schemas take part of the text that it can keep in mind.
func shorten(facts *jsonschema.Schema) {
	facts.Description += " The fields are described at check_email."
	for _, field := range facts.Properties {
		field.Description = ""
	}
}

func schemaOf[T any]() *jsonschema.Schema {
	schema, err := jsonschema.For[T](nil)
	if err != nil {
		panic(err) // a defect of the type
	}
	return schema
}
