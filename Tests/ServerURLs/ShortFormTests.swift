import HalcyonServerURLs
import Testing

/// URLs without signature, as people type them.
struct ShortFormTests {
    @Test(arguments: [
        (
            "rs:fit:300:200/f:webp/https://example.com/a.jpg",
            "/rs:fit:300:200/plain/https://example.com/a.jpg@webp"
        ),
        (
            "w=300,h=200,fit=fill,format=webp/local:///a.jpg",
            "/rs:fill:300:200/plain/local:///a.jpg@webp"
        ),
        ("local:///a.jpg", "/plain/local:///a.jpg"),
        (
            "https://example.com/a%20b.jpg?x=1&y=%40",
            "/plain/https%3A%2F%2Fexample.com%2Fa%20b.jpg%3Fx%3D1%26y%3D%40"
        ),
        ("w=5,fit=scale-down/local:/a.jpg", "/w:5/plain/local%3A/a.jpg"),
        ("w=5,fit=contain/local:/a.jpg", "/w:5/el:1/plain/local%3A/a.jpg"),
        ("w=5,fit=cover/local:/a.jpg", "/w:5/el:1/rt:fill/plain/local%3A/a.jpg"),
        ("w=5,fit=crop/local:/a.jpg", "/w:5/rt:fill/plain/local%3A/a.jpg"),
        ("w=5,fit=pad/local:/a.jpg", "/w:5/ex:1/plain/local%3A/a.jpg"),
        (
            "q=50,f=png,dpr=2,g=so,blur=3,sharpen=1,rotate=90,bg=f00/local:/a.jpg",
            "/q:50/dpr:2/g:so/bl:3/sh:1/rot:90/bg:f00/plain/local%3A/a.jpg@png"
        ),
        ("w=300/h:20/local:///a=b/c.jpg", "/w:300/h:20/plain/local:///a=b/c.jpg"),
    ])
    func itMeansWhatTheUsualFormMeans(short: String, usual: String) throws {
        let parser = try PlanParser()
        #expect(try parser.parse(shortForm: short) == parser.parse(path: usual))
    }

    @Test(arguments: [
        ("fit=stretch/local:///a.jpg", "invalid_option"), ("z=3/local:///a.jpg", "invalid_option"),
        ("w=x/local:///a.jpg", "invalid_option"), ("w:10/%zz", "invalid_path"),
        ("w:10/", "invalid_path"), ("", "invalid_path"), ("a%00b", "invalid_path"),
        ("da:1/local:///a.jpg", "unsupported_option"),
    ])
    func whatIsWrongIsRefused(short: String, code: String) {
        let error = #expect(throws: PlanError.self) { try PlanParser().parse(shortForm: short) }
        #expect(error?.code == code, "\(String(describing: error))")
    }
}
