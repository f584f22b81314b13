import Halcyon
import HalcyonWork

/// Pictures that look like the first of them, which is the largest.
struct PictureGroup: Sendable, Equatable {
    let pictures: [FoundPicture]

    /// The number of bits in which a picture's hashes differ from the first one's.
    func distance(of picture: FoundPicture) -> Int {
        picture.distance(to: pictures[0])
    }
}

extension PictureGroup {
    /// The groups of at least two, in the order of the first pictures' paths.
    ///
    /// A picture is compared with the largest of each group only, so that all members look like
    /// that one: similarity is not chained.
    static func groups(of pictures: [FoundPicture], distance: Int) -> [PictureGroup] {
        let largestFirst = pictures.sorted {
            let (count, other) = ($0.size.pixelCount, $1.size.pixelCount)
            return count == other ? $0.path.description < $1.path.description : count > other
        }
        var groups: [[FoundPicture]] = []
        for picture in largestFirst {
            let index = groups.firstIndex { $0[0].looksLike(picture, distance: distance) }
            if let index { groups[index].append(picture) } else { groups.append([picture]) }
        }
        return groups.filter { $0.count > 1 }.sorted {
            $0[0].path.description < $1[0].path.description
        }
        .map(PictureGroup.init)
    }
}
