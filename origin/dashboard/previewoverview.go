package dashboard

func overviewPreviews() []preview {
	return []preview{{"overview", "empty", frame{Path: "/dashboard", User: owner, Data: overviewView{}}}}
}
