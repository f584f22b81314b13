import CCodecs

extension PixelSample {
    /// Levels between libjpeg-turbo and libjxl, which puts chroma between its samples in a way of its own: 4 with
    /// libjxl 0.7, 5 with 0.11.
    private static let ofJPEG = JPEGXL_MINOR_VERSION < 8 ? 4.1 : 5.1

    /// JPEG XL files that cjxl 0.7 has written. Pixels of those without loss are those they were made of, and those with a
    /// profile were converted by LittleCMS 2.19; the one with loss was decoded by libjxl 0.12
    /// (pillow-jxl-plugin 1.3.8). What was made of JPEG files was made JPEG again and decoded by
    /// libjpeg-turbo 3.2, which puts chroma between its samples in another way.
    static let jpegXL = [
        PixelSample(
            "JPEG XL with loss", tolerance: 1.1,
            """
                /woDQUJxIQASiAIAgAX9pRoAABUqo4wbvJzr+fJDh8W0jesMbbVtYUmiyDg2SSdwSBLp1dveeZH4/05yxXxV
                tOzzZ2Ljsl49N2XDyChWB5ED3WWsxsI0AKBXSIFE261Iiby8k0TmxIsT+/4cIMF4TSo0oT8P6BSuIne6oxp1
                32Dva8tEpXKz4Cc3QhB9rZArn0VIx9vV31CI/TJmVei/v8wNDSQH9SBxMmLRb6ApzybzcSFBDlDNpB6+rxn2
                R6idLVsIzojrUWKdgmA4yRk4G1A6J2FuYavL19Nu27DZxOEyNinqhZWQ6NxDyqUs2xWaYUGBB5PqQz2O3jHo
                LPa/C0spe/4xIAJjiu0O2VkqvpEWjaXAt+dAwJaxR0VyxqEc5PiEGI1WVPxAH+X68WZ5U90GWO8q2gig2ZzU
                CpMwuR4YCQbl7TuSLXaThx+r7kgruraEdvJGJMQSBRyb6vcTbGSD1pV0ROAH1BsL4JQA
            """,
            pixels: [
                """
                iVBORw0KGgoAAAANSUhEUgAAABgAAAAQCAIAAACDRijCAAADi0lEQVQ4yx1UPYhdRRQ+Z+bM/9x738/+vGjW
                RG1MawqRKMjaBBErC6uAohYiFilEsBFFRAuLoEUwiGm0Fu1FEGQRAjYuCMoaYzYr2ezv2/fevXfmOJE51RnO
                N9855/sGHQABGjAOQgAfRPDCGKZhAgvK38/7Eh6ck9aS8V0dgwpHKYKJMJZADsivKOIQGQhRC2EBXRamR1Ou
                OVsWitFwAUwWsyvPEZBkmceqHaVjN2c9iyLmPcKZlP0Dk857ikH6QL6w8WxMNla4ClxAH8kE0tHoUEKgOTc8
                /Oz0E5deu3FxAecvbH774oUnf6vcfiCoCyNxgEah1mBCViNWPpNO1gkVUTk2WJhmj9ksSD93sv/hV1ufXln/
                4sdle/2hmy//gPKsW3akK7GW5R9C1So0nQRlr966AwtWt/Z43KjdTYjnrzz+dAIP8wyxvvzOe9mNDj/+/Zvv
                3893Xlmf/6xgjUdM1cC7LEl6iU51UgldnxzR9gHCP2n3jIJpyzNqHGPANltlJx9tuPq7x/Kvo0dfat8Mo723
                rDtJpGk2jIJlL2NiKxMhyxNv5UhAN+xipecn7XjMg4pFJXpmNrNRSkA2PTgdqCFiGtNRPncERCfRdkygwzwZ
                ZKV6IUgKo9kR6qKNIZfBV7GnmPqMXDIyA6WkWhQdI4CC5ICJYDTYZAXC3QU77q3JgFPZDqt8JGm/p71Bdijd
                Shf6476uwLq51UKVYWRBXfLYh6CEzIVL7QF0AZJsUvZ/gXz9jRecJJubwLJiFKLIx0loCYeYu3Y0yEidwFbK
                AAPXH+J8x+sPCJr/gdAqcJ7dAulvgWtAG7B0CvRq1kOmCXYVnPr6Opq0eld3HQJCEUUaTrcHN+qrX66ngzWq
                mtKhKUARrO3tsiSWcg50sc0xY5XJgpm5GvLqLs1W7N5W0QFwOYAMS/DUM1tt3Il5h7q6LkYrzTegeyaDmtgW
                Bf9CZoXNhF3FdsDRyu1/Nd2eri2p4x44MxyWoff6p27QhVelvkbzxi/KYsBlVPdNx0qAS+gWslqAylkJ1iih
                60/3aRbDn6UOs0DEAeBNd28iGxpd4/b5srViEXOPXXFDLrssWOCQ/W3RDIt1SwWTZkm9+vyTeuLOUgsSgxQC
                5ZkkLi3R28XWnDYIKgtgOnZz1H3RCOuMjtg9C2oZYAI5ci6zGkPTMORZ+SAAaYpFZOJg1L+ru4c1+b5/5D+6
                jGRzbTDp6QAAAABJRU5ErkJggg==
                """
            ]),
        PixelSample(
            "JPEG XL with opacity", tolerance: 0,
            """
                /woDwYLiQggIEABkBksosSnjue65OArjvu0KCuN/BQUFBUc0RmIEBQUFljoyMjbGoIyOwQ2Hg2PM80lKrAhj
                DF4YxjDGGCNjVFRUYxRWOMYgK8aM0TFjcGbmJTPGSLrjAOLIKAKACLU7u1pI8Djnr1wJuyVO4le158h0RCRv
                VOQed/FAYSEMykcIPOlRaHEPK2hv2n/sAQU/xCgBVt6eVO/t6vPeHkjuSFhmn+Eh0byX3Nw7fMe9tZ3dHT4Z
                /P////////8f8N91PvzkI+QA095TvRlw7KKNzLsDeIiqyjPtGsecZG6QjrcJdU9lj5HQn7sg+G9UffeIGSTx
                12YRyv9zv/4YpvwTxWzb8MJBiSOK1R1Jevw9YvYR8lmuxV+JGUBVFQBgWxUAIPkMKOIm+ApLUPyAGQq+6Sko
                6Z9XCMLJq5mAIo3kXfH5/28CJ3dhlA2pKaELhNKwi6EUKS9ZIEsV0doUrwLAyUl7sv5nZrxCZpCFAJZJFpk6
                5WVlFbCvAlDPVe///////9/wn/0RgOKo6/OUcXFCbh2IxZoFwoT5uzshWAE=
            """,
            pixels: [
                """
                iVBORw0KGgoAAAANSUhEUgAAABgAAAAQCAYAAAAMJL+VAAABHElEQVR4nGNkYGBg4GJgR8b3uRjYf1ALszDw
                czMwMLAjY2ZqYoot0P++jjlXcgHzonRbZqsDKcztqleZO80rmbfkfoFb8B9q8E8GBvYfUEy0BZb/3Zhjtm5n
                7u1ewFx3XYhZaX40s0LsXWYGflEMH6BoXHXjJjMDAwMGnqQRgaJuXms28xJeJeaT3R+ZLbXimUs/RDJ3vb3E
                zMDvx8zAwM7MyOBt/h8auf+RI2fLyXM/GBgYMPAk82SyI5kR1ReYrmdgYGBm4OemKJKHvgVwS8KKU5m5GNix
                Yrrkg45lwmi++w3FX5gZGBiYT0TpMDMwcGO1gIk4S3AEIVpQYrOASF/8pbUFnyiygJGQBRXThHAmAkhCwG8B
                kb4gnGQB5epq8QuqqtMAAAAASUVORK5CYII=
                """
            ]),
        PixelSample(
            "JPEG XL of 16 bits", tolerance: 0,
            """
                AAAADEpYTCANCocKAAAAFGZ0eXBqeGwgAAAAAGp4bCAAAAAJanhsbAoAAAIYanhsY/8KA/EDUFwICAIBAAgI
                Syg0Fp4vFRTOVFBQcjIyMjKiqYwxxtgYg5305vpW2RpG140x2EljMBpjjI3BqxRj0B1ADAC+bfDZ+P///+/q
                //95uP///2ec/P8fZOr////3Qv//2/37brfddv++22233e9+didCu3ff7bbb7rd/u+22u/c9Edptd96/3Xbb
                veBkdyOx2267E2EjsdvuZvVE2EjstjsRym0jsdvuRNhI7LabkisRNhK77ba7kdidCBuJ3XYnwhK7RmK33XYn
                QrltJHbbbXcibCR22203lmEibCR2250IG0kibCR2240BmQgbid12J8JGYrfcNhK77U6EjcTu3He7E2Ejsdvu
                RCi3jcRuuxPhkGgjsdtuuxNhI7Hbbrsbid2JsJHYbbflu92JsJHYbXcilNtGYrfddifCAZBGYrfdibCR2G13
                ImwkibCRIE3YbXcibCR2250IG4ndcttI7LY7EcrtNhK77U6EjcRuu+1OhHLbSOy2m2gpETYSu+22OxE2Ervt
                biR2J8KqpEZit912J8JGYrfdiVBuG4nddts94pMIG4nddifCRmK33YmwkRRSJcJGYrfdibCR2G13ImwkdlPd
                96ZKleqiN1WqVPe9qVKluqBNlSpVqoveVKlS7femSpVqgRJVqlSR0Ozbb8q1b38W074uun37H4T27SMk248x
                sG+/BNu+fVBN+w==
            """,
            pixels: [
                """
                iVBORw0KGgoAAAANSUhEUgAAABgAAAAQEAIAAADT1vSBAAAD6UlEQVRIDR3Brwr/Bx3F4fPhtPcJIibL94BZ
                GcwLsLhkMFkdwrAal8S6tiKDJbsn7AIWbDJQ8ApEvAFf+H/+dE7weR79301+kcklk8tNLplcMrnc5JLJJZPL
                TS6ZXDK53OSSySWTy01+kcklk8tNLplcMrnc5JLJ5dFXv/Llx1+/PS6Z/CKTy00umVwyudzkksklk8tNLplc
                Mrnc5JLJJZPLTS6Z/CKTy00umVwyudzkksnl0Tf637ffvj0umVwy+cVNLplcMrnc5JLJJZPLTS6ZXDK53OSS
                ySWTy00umVwyudzkF5lcMrnc5JLJ5dG33/riN9+7PS6ZXDK53OSSyS8yudzkksklk8tNLplcMrnc5JLJJZPL
                TS6ZXDK53OSSyS8yudzkksnl0Xe/85/33rvJJXtcMrnc5JLJJZNf3OSSySWTy00umVwyudzkksklk8tNLplc
                Mrnc5JLJJZNf3OSSyeXRD77/7y9+msnl9rhkcsnkcpNLJpdMLjf5RSaXTC43uWRyyeRyk0sml0wuN7lkcsnk
                cpNLJpdMLjf5xaMfv/vmo48yudwel0wumVxucsnkksnlJpdMfpHJ5SaXTC6ZXG5yyeSSyeUml0wumVxucsnk
                ksnlJpdH7//kX299ksnlJpfsccnkcpNLJpdMLje5ZHLJ5HKTX2RyyeRyk0sml0wuN7lkcsnkcpNLJpdMLje5
                PPrgZ59/9lkml5tcssclk8tNLplcMrnc5JLJJZPLTS6Z/CKTy00umVwyudzkksklk8tNLplcMrnc5PLo4w//
                +aM/ZnK5ySV7XDK53OSSySWTy00umVwyudzkksklk8tNfpHJJZPLTS6ZXDK53OSSySWTy00uj375i3+8eZPJ
                JZPLTS7Z45LJ5SaXTC6ZXG5yyeSSyeUml0wumVxu8otMLplcbnLJ5JLJ5SaXTC6ZXB59+snff/61TC6Z/OIm
                l+xxyeRyk0sml0wuN7lkcsnkcpNLJpdMLje5ZHLJ5Bc3uWRyyeRyk0sml0wuj377q79965uZXDK53OQX2eOS
                yeUml0wumVxucsnkksnlJpdMLplcbnLJ5JLJ5Sa/yOSSyeUml0wumVwe/f53f/31O5lcMrnc5JLJJXv84iaX
                TC6ZXG5yyeSSyeUml0wumVxucsnkksnlJpdMLpn84iaXTC6ZXB796Q9/efeHmVwyudzkkskle1xu8otMLplc
                bnLJ5JLJ5SaXTC6ZXG5yyeSSyeUml0wumVxu8otMLplcHn3Jnz9/P5NLJpdMLje5ZI9LJpebXDL5RSaXm1wy
                uWRyucklk0sml5tcMrlkcrnJJZNLJpebXDL5xf8AG3e7HzGazqMAAAAASUVORK5CYII=
                """
            ]),
        PixelSample(
            "JPEG XL of grey with opacity", tolerance: 0,
            """
                /woDwaK4EAgIEAAUAUsosG207yj8KCgoKYgYMdsYYzawQDGMMVgHYoxhDB50EYAAfvH/Enx8//9P/79i8P8D
                0v+XDgQHuAkGuQawbj538CW+NA==
            """,
            pixels: [
                """
                iVBORw0KGgoAAAANSUhEUgAAABgAAAAQCAYAAAAMJL+VAAAAKklEQVQ4y2NkYGD4z8XFxUArzMLIyPgJiBlo
                hUctGLVg1IJRC0YtoAYGAF7LFlWnao+8AAAAAElFTkSuQmCC
                """
            ]),
        PixelSample(
            "JPEG XL of a JPEG file", tolerance: ofJPEG,
            """
                AAAADEpYTCANCocKAAAAFGZ0eXBqeGwgAAAAAGp4bCAAAAARanhscAAAAAD/CgNBJAAAAeBqYnJkwG0DCIIg
                tAwIgFCjQMhVJQAAIOSobMFQnP8TRMYIZZxTCtqPkCHMUgcZZqB0hxqsDxlOPmbAIQcVFjlo2IHto4b+/ZFl
                DjvuQEPR/S/GOGOSSzb5ZJRTnpnmmm2+GeechR6a6KKNPhrppKWemuqqrb4a66zFHpvsss0+G+205Z6b7rrt
                vhvvvAUfnPDCDT8c8cQjl3xyyiu3/HLMMw9d9NFJL93001FPPXbZZ6e9dttvxz334IUfnvjijT8e+eSjl356
                6qu3/nrsswc/fPHHJ798889HP33445d/fvrrt/9+/PP/VzBVVQIAIOSobMFQnP8XREIpo6xTisR4QMhm1CDD
                pDrQUD3YcO4hxwwoyAcNOeiwAxuLLHPU7/Zhxw2t6I88M/gkw/tfjHHGJZt8Msop01yzzTfjnLPQQxNdtNFH
                I5201FNTXbXVV2Odtdhjk1222Wejnbbcc9Ndt91345134IIPTnjhhh+OeOKRSz455ZVbfjnmmYcu+uikl276
                6ainHrvss9Neu+2345578MIPT3zxxh+PfPLRSz899dVbfz322Ycv/vjkl2/++einH7/889Nfv/3345//v8AP
                AFQWAAsIgOAAEEpGSUYAAQEAAAEAAQAAAwAAAelqeGxwgAAAAeBbAhAAWAcMZAxkDGT+/w4AABgACAABAAAA
                AACAgCWJJKhezBUA3y2hFwCgkKSgoMAGxxi81jE6BrWNbUlIiTFGR0RExsYYARtM3PcbwNjkoZgM4KwJABV6
                gA+5NQEAGKwTQMxZUS8KAGBFKgAQZAoAQJtPAAAAAAAAAAAAAAAAAACKCgAJAFkDxaf8k0ENMQHMRjSyK6hc
                q0gGOPglaKAw3SAQnwcAAP4KAAIAwPURAAAAAAAAAAAAAAAAAAAAAAAAAACFFEgHYLcqpbu76qQk73hRGXPk
                D+ORqtO3x2GrHW9Xi5qk+yR+HE5xAzHp5H8AZOYbnNXctdsKVKZLxtMn3+J5asEwfYSiaTZ3aFM68iSTbuq3
                XV8Prpjr8GFhnkju451RLakRq20TApM/v70/S5f7+xYTpvMOLKII8328lmWvQT8A6zNHngZDaFYIHunvNQqZ
                tDY1x2/mv89b5wSwC/XKXkX8VrKbTDUUO3RDGsESG4LvpHqomL4OeY+eEr3VPABHE6gdpu3033pDfaGdww0d
                ZZ40HtRIwFA0ZrmL8je7nzIqXQbkyxTS9WKBhQiazFfKwmBdUAAzmof8eQtxgOdJu8Gd1POCFUHcx3OHVFUw
                x0prcK5bvnlkHA==
            """,
            pixels: [
                """
                iVBORw0KGgoAAAANSUhEUgAAABgAAAAQCAIAAACDRijCAAADf0lEQVQ4yxWTvateRRDGZ3ZnZ3fPnq/3i4sS
                lSQXA4qQylYhFjaCjYXEwkKwsfI/0H/Azkas1UKstIggImkkQiBB/ExARXIVb7zJfe973nP27I4rTLHswjzP
                M/NbBGUYTZDgM1kEjyHg0ourQNekScZgrJtsr+p2sg0GZ2qcsDfez7iSJig35eRDRaq2SlmTmdE6YK+9FeZs
                nHiryYKtyRq2jK1hU7TOLGmt2egkaojDily/X2BiykUejAhL5ow+IwMIpAypHIzTbCng5EE3Am7r4K9mfJiP
                X335pU8/++Ty88+a9Ah9rfrdRkEboKuhq6T12Pg68AVOz5h0yUyHOp7X0wFFX7M0tXRtXPiv7l6/+s4b3xz9
                NJzfXHn79c9/ubGrtHin8eJ5LhFdsM467w4VvjiMz8X5kuSLcnYBTwKlbbce66VxbarlrXdf++P+7089/cLH
                H107WD423X14ubrQApO0AZUuKRBMBuLtdO44PznFPcwZIsz7pLWv6UFwImQcf/nFtWj4jqhXrlwdfjw97A7T
                KcqKCBcGkFB8FjNqM4iOwMM07ShimeGUgEWHRndeoRhyFV1s7Ho+aVd2xbuzjfeN9/tioTjKSCIe0CJxFHu/
                OzuKMBIoBW4fT/0SuiX2jchc1uUg6Fht6qUddR82niDLAGXB0G+KozmpAlQRHNPw86bZKZVFYWZblVDrqetL
                Iyp6CTNYR0Hts3Y4Oad16mmgfELQVgkViCqOtAqRm39M0HtZVH2BK05GmZAOVtsymPBEio65ehBLWKu43iFm
                c2KHG/n0B4KFUYoog85GQdgFf7ff/Aust/Fcs1Jn2ZDNtfX0xPsf3jT68TiOjpxKkmJkz9Vw7b0372/a6wRd
                gU1DBkg+l0biI/JWm9Waj5R1LThtC8rF7JlZz3Fhg304zYVyKPyiHNRNbn5FvENUB000g0RwBEFBBWKVUEa1
                jaL+f61mJJvqSYPRFGWOMBX6UZTOJLoit7LuUVKLViGW+yxOqCrpVLa6bFMKZMVLO43JKPRlSc1NGL9H2Pc1
                UaJ5SN56nr9VjeF+iXT7A4umnm0lNqB3aD2UMgF1+dkBFzqOS7f3cG+l750cfdfYBybuW9UFDpLnjndr/M3l
                45LGUtFLwWXrFJcWthQyoUZxOfGiqRjuHf95y3W32/Wtzvzd6VzNFQtbU1BWQdeMzX/WcWVgoL/ghQAAAABJ
                RU5ErkJggg==
                """
            ]),
        PixelSample(
            "JPEG XL of a turned JPEG file", tolerance: ofJPEG,
            """
                AAAADEpYTCANCocKAAAAFGZ0eXBqeGwgAAAAAGp4bCAAAAASanhscAAAAAD/CgMtEBMAAAHjamJyZMBw2wCC
                IAgtAwJAIgChRoGQq0oAAEDIUdmCoTj/J4iMEco4pxS0HyFDmKUOMsxA6Q41WB8ynHzMgEMOKixy0LAD20cN
                /fsjyxx23IGGovtfjHHGJJds8skopzwzzTXbfDPOOQs9NNFFG3000klLPTXVVVt9NdZZiz022WWbfTbaacs9
                N91123033nkLPjjhhRt+OOKJRy755JRXbvnlmGceuuijk1666aejnnrsss9Oe+2234577sELPzzxxRt/PPLJ
                Ry/99NRXb/312GcPfvjij09++eafj3768Mcv//z012///fjn/69gqqoEAEDIUdmCoTj/L4iEUkZZpxSJ8YCQ
                zahBhkl1oKF6sOHcQ44ZUJAPGnLQYQc2FlnmqN/tw44bWtEfeWbwSYb3vxjjjEs2+WSUU6a5ZptvxjlnoYcm
                umijj0Y6aamnprpqq6/GOmuxxya7bLPPRjttueemu26778Y778AFH5zwwg0/HPHEI5d8csort/xyzDMPXfTR
                SS/d9NNRTz122WenvXbbb8c99+CFH5744o0/Hvnko5d+euqrt/567LMPX/zxyS/f/PPRTz9++eenv37778c/
                /3+BHwCoLAALCIDgABBKRklGAAEBAAABAAEAAAMAAAArYnJvYkV4aWYbHQAABHRjGwcxW6KpvxMJZZRYtIAk
                D9CW/4seKRkAAAAB6Wp4bHCAAAAB4FsCEABYBwxkDGQMZP7/DgAAGAAIAAEAAAAAAICAJYkkqF7MFQDfLaEX
                AKCQpKCgwAbHGLzWMToGtY1tSUiJMUZHRETGxhgBG0zc9xvA2OShmAzgrAkAFXqAD7k1AQAYrBNAzFlRLwoA
                YEUqABBkCgBAm08AAAAAAAAAAAAAAAAAAIoKAAkAWQPFp/yTQQ0xAcxGNLIrqFyrSAY4+CVooDDdIBCfBwAA
                /goAAgDA9REAAAAAAAAAAAAAAAAAAAAAAAAAAIUUSAdgtyqlu7vqpCTveFEZc+QP45Gq07fHYasdb1eLmqT7
                JH4cTnEDMenkfwBk5huc1dy12wpUpkvG0yff4nlqwTB9hKJpNndoUzryJJNu6rddXw+umOvwYWGeSO7jnVEt
                qRGrbRMCkz+/vT9Ll/v7FhOm8w4sogjzfbyWZa9BPwDrM0eeBkNoVgge6e81Cpm0NjXHb+a/z1vnBLAL9cpe
                RfxWsptMNRQ7dEMawRIbgu+keqiYvg55j54SvdU8AEcTqB2m7fTfekN9oZ3DDR1lnjQe1EjAUDRmuYvyN7uf
                MipdBuTLFNL1YoGFCJrMV8rCYF1QADOah/x5C3GA50m7wZ3U84IVQdzHc4dUVTDHSmtwrlu+eWQc
            """,
            pixels: [
                """
                iVBORw0KGgoAAAANSUhEUgAAABAAAAAYCAIAAAB8wupbAAADhUlEQVQ4yxVTO4tmRRCt6q5+3Mf3mJlvmHUN
                lJEdMdsR1EAFjUUQA8EfIMhGhqImivmyP0EzQVFE2MBEzNxAQTPRddV1Zmdn53vd9+1H2dMUBR2c6lPn9EG6
                +zk0g1h1cbX1dQObDlYOti2sz3Hb8Mpd9noF20Ysu1gPVGDmMQrsIxFJCYIiBokESCJ1EVmqgBpgRBEjRpqF
                YvA+cg3AFAEieBYQBHGGHBkYwHtWwAYjOhZURCPZeLYCnAoRIgcUIAKgAR4FKObBB40xIOIYIxVCS8wczRG0
                ggQzUTSBoqMxkTFAArSDjBEEAGJHGag0TF1yAcExTzU0atmZzaBWfdaM4xDvs6xRC5kAnkwCgHGXXDzguBPb
                w4tm8efp0Xm1u6kVjPeF+B7lXSBgJVBRlqAQLISQdpZqB/RBz49dNEeP6it1nWnMtfmZ9EmQEIVIS1uUhJI5
                PZfuWtZuJ59HFgNBS4k5Rc50mJZBJw16iGTZ8iXQj64thbky2VNnNUYtRBqRVANmtlEXiblMVkmyYSrQCiks
                jXpoRBNpVCqQ7Z1OE40kOZQYZ8A9uMAD7VnathUPIaNcSa/I9Kpoi8XZ0LWCgHBFE8FliUqRR2Uoh1OysK2T
                LelnyFhOmgMtj1/8e7OGzTI0VVf7aps8G5Xr7Wjk8VvXpllhwiHXC+lK5fPtukJta1A12CqWg89h1Nqhcax8
                pMdnvxVy/8NPfgnVsQ5QuEc33rxOm3uefXo0coFgkn4IHp1yo0k+/Lp+MBXDoYAnvPNK5ugsBVRSBxp624/j
                yM6pAUoyFgsxUw8nZgPQJ/mMMW4YJjo3YCwUwmA3P3n13We//P27s8nARltVipmMaZtM0Xh5vCUrHe9Q2iqf
                2IVT+q/16c3Pbm3jJkmCKRS5z6diRoGUUKlE4F00ZU+7uOfXU83PHOy88MPtH99+4/WZ0nOVCc260IXvAqbc
                QAzOFbq00ZhkkdnLxOKD9z/958F/X339hWGRwimMSsHymckkEyLrTCd1jJ3OtUnGlyrceO+dj259fP2V56WD
                PZ4QoZjpdup/shIRWttVM3WUyaAJ9nV2sVz+cfvOnW+/ee3ac1NKOgDe+/elZlW0p0/GqvD9hah2Z9XLWfd0
                ew6i19XDcxl4db7M21CeVfF8RRpTki/2593olsNwwvhUXy1IXDVmDi1chQmu/aKx2PV9GLjI/wfBpeAiM4Mj
                ugAAAABJRU5ErkJggg==
                """
            ]),
        PixelSample(
            "JPEG XL in Display P3 by a profile", tolerance: 2.1,
            """
                /woDQQhXCQMS5gHQnJKhXOJ5Has+0kvbZ4+ECl+BEkKedoVS9gBmtqCZbfjoZWgN8otArngWzWLxF2nZijsW
                h3U7McRwiaadC5dt2DygUOZlzjfhgOG6feu2BO1av66cpoEDvZCuz79//+6gij4wFgtH5iAoGybOQKRNdmCr
                WROUe4LTZjAj9M3oBggCAQAkBEsosG20/347CgsFBQUlF4UIFMh3jMECMcYYHS8GXYwXI3k4WE5FHWNR271o
                Zh42BGIMFoHYGEzgQgQmAIjIbuRmEIqhJSClIkJRJgJIqUYwCkV4UnwccvIb82+nlnK0FCp7jQvkuRGudQkV
                6AoSBWyHKtwSduxifzkOxvyM+TX8Ut9gZjsALwQgB4wlCbBbQFRDy5YkSE3h01EscFx5NQCNjeR34jUBJC5d
                E+XyOe8fB2b2/29m9v9vZvb/b2b2/m9mZvxvZsaM3kE8ZMsuHiGJvZFvTFJoH2OQplPGC92e0r/qH4G6ovjb
                MOs/Vw33Se5r0rdJcAENdmm22P2rvq3Jv38zMx602Hw=
            """,
            pixels: [ofDisplayP3]),
        PixelSample(
            "JPEG XL animation", tolerance: 0,
            """
                /woDBQNYUFwSCAggmQAA7AJLKKPcppOD7w9WkwoKCgpKKEYwYqetGGPM6BgMx2BCxqCMwZmolYp3OZOnpL3m
                SgQigBgIAFHAAGB7wVEJAAdXIAB4ggIgCRz5V1D+fwQZP5sXm8t7XN5d3l3eAd4X3uesWQdils/FJ90hGc0h
                gnJa26DZnSE6QStkjxWQY64M0P////////////+v/0/b6cIqeiSQEs/09I/e/ad77rZ5u/b29vb2du92Jm/q
                SEQQmAUBULjoI6pvB6QHCAggsgAAFANLKKPcppOD7w5WkwoKCgpKKEaIsM9WjEGOwXCMMWaMMWYMHjIGZ6LW
                KU5m5nw4Wv5KBCKAGAgAUcAAYHvDQTQDYJIkSZIkSYRZkiRBvMbJ//////+/oe69MnR94vLu8u7y7vLO8I7u
                wGNqdhxKHegSGt9kkrgiTbwy2WSelZS8tY/UVS59/P///////////4/9fw/R6w3aRYX+OZIvdbDoY1ogesuU
                aG5vbm9u324HNB7OO/gaOcxpQQgEQ0r9EDckbmCcAAgIoEwAAAADSyij3KaTg+8PVpMKCgoKSihGiLDLVoxB
                jsFwDBYXg8XF4DyUSs1d5nxIsPyVCEQAMRAAooABwPaC462ywCRJkiRJkiRJYkCHGICt/v//////7eNoy+Du
                Hpd3l3eXd4f3OPk4cngnYr90rPP9hEqzUI/UsBtAa4cnGGQBFUlk5zVnov7///////+f6P8PiB77/4VDWiZF
                596y2/rp/3YKIpowS97t5ubt3NDmPXg7kvcqMhUKJAgsgqDMsOLtsWAB
            """,
            pixels: [
                """
                iVBORw0KGgoAAAANSUhEUgAAABgAAAAQCAYAAAAMJL+VAAAAQklEQVR4nGNkYGD4z8XA8J1WmIWBn4GmYBha
                cGmLiAo2hVk+b5ZRxQKcgEyfDkML9Dre3MGapmnuAzLBqAWjFlAOAHPfJQT7f5IpAAAAAElFTkSuQmCC
                """,
                """
                iVBORw0KGgoAAAANSUhEUgAAABgAAAAQCAYAAAAMJL+VAAAARklEQVR4nGNkYAg4ycXA8J0K+Dw2cRYGfgaa
                glELRi2AgAXtR9qxic+ptHGmigU4ARF6R4gFCVttKrEWDzT3ARFg1AKCAACpmiRCyvMK/AAAAABJRU5ErkJg
                gg==
                """,
                """
                iVBORw0KGgoAAAANSUhEUgAAABgAAAAQCAYAAAAMJL+VAAAARUlEQVR4nGNkYFgwmYuB4TsJ+Dwp6lkY+Blo
                CkYtGLVg1AIKLMiLKhHCJn5uWc8OqliAE6CZN4ItmPSo5x3WEpTmPkADAEOZJYDnQk+iAAAAAElFTkSuQmCC
                """,
            ]),
    ]
}
