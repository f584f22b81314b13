import Foundation

@testable import HalcyonPixels

extension FuzzTarget {
    private static let drawings = [
        "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 9 7'><g id='a'><path d='M0 0h9'/></g>"
            + "<use href='#a' transform='scale(2)'/></svg>",
        "<?xml version='1.0'?><!DOCTYPE svg [<!ENTITY e 'x'>]><svg width='5' height='50%'>"
            + "<style>.a{filter:url(#f)}</style><filter id='f'><feMorphology radius='2 3'/>"
            + "</filter><!-- c --><rect filter='url(#f)' opacity='.5'/><![CDATA[ x ]]></svg>",
        "<svg width='50%'><style>.a, g > b:hover{marker:url(#m);opacity:.5}</style><marker id='m'>"
            + "<feImage href='#m'/></marker><path class='a' d='M0 0L1-1.5.5a1 1 0 01 2 2z'/>"
            + "<text fill='&e;'>a\u{4E00}</text></svg>",
    ]

    /// The readers of SVG, not the one that draws.
    static let svg = FuzzTarget("svg", seeds: { drawings.map { Data($0.utf8) } }) { data in
        let scale = SVGIntrinsicSize.scale(of: data)
        precondition(scale > 0, "no drawing has such a size")
        let document = try SVGDocument(data)
        precondition(document.drawnCount > 0, "nothing is drawn")
        precondition(document.memory(drawnAt: PixelSize(width: 3000, height: 3000)) > 0)
    }

    /// Texts and bytes that are taken for hashes of pictures.
    static let hashes = FuzzTarget(
        "hashes",
        seeds: {
            [
                "LxH2cX2swxX8l}WDjte;gJfjfQfj", "001C={", "2PoNNJpwd3d+eId3iIhzjwcHiA==",
                "00ff00ff00ff00ff",
            ]
            .map { Data($0.utf8) }
        }
    ) { data in
        let text = String(decoding: data, as: UTF8.self)
        if let hash = try? BlurHash(text) {
            precondition(hash.description == text, "a hash is another one when it is written")
            _ = hash.bitmap(size: PixelSize(width: 5, height: 4))
        }
        for hash in [try? ThumbHash(text), try? ThumbHash(data: data)].compactMap(\.self) {
            precondition(hash.bitmap(longestSide: 6).size.longestSide == 6, "the size is another")
        }
        if let hash = PerceptualHash(text) {
            precondition(hash.description == text.lowercased(), "the digits are others")
        }
    }
}
